/* Places in a program's code: see place.h. */
#include "runtime/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/code_line.h"

#define LINE_BYTES 1024

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool place_is_ours(const struct code_place *place)
{
    const char *name = base_name(place->object);

    return !strncmp(name, "libdrasync", 10) ||
           !strncmp(name, "libdart-mpi", 11);
}

bool place_is_c_library(const struct code_place *place)
{
    return !strncmp(base_name(place->object), "libc.so", 7);
}

static void set_object(struct code_place *place, const char *path)
{
    size_t length = strlen(path);

    if (length >= PLACE_OBJECT_BYTES) {
        path += length - (PLACE_OBJECT_BYTES - 1);
        length = PLACE_OBJECT_BYTES - 1;
    }
    memcpy(place->object, path, length);
    place->object[length] = 0;
}

void places_of(int pid, const uint64_t *pcs, int count, struct code_place *out)
{
    char line[LINE_BYTES], path[LINE_BYTES], last[LINE_BYTES] = "";
    uint64_t low, high, base = 0;
    FILE *maps;

    memset(out, 0, (size_t)count * sizeof(*out));
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        int at = 0;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &low,
                   &high, &at) < 2 ||
            !at || line[at] != '/')
            continue;
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line + at, last)) {
            base = low;
            snprintf(last, sizeof(last), "%s", line + at);
        }
        for (int i = 0; i < count; i++)
            if (pcs[i] >= low && pcs[i] < high) {
                out[i].offset = pcs[i] - base;
                set_object(&out[i], last);
            }
    }
    if (maps)
        fclose(maps);
}

/* --- Function, file and line ---------------------------------------------- */

#if HAVE_LIBDW

/* Debugging information that lies elsewhere is not looked for: that may ask a
 * server. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **found)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link;
    (void)crc, (void)found;
    return -1;
}

static int no_elf(Dwfl_Module *module, void **data, const char *name,
                  Dwarf_Addr base, char **file, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

/* What libdw knows of @offset in @module; false: nothing. */
static bool describe(Dwfl_Module *module, uint64_t offset, char *text,
                     size_t bytes)
{
    struct code_line lines[CODE_LINES_MAX];
    const struct code_line *known = lines;
    Dwarf_Addr low;

    code_line_libdw.dwfl_module_info(module, NULL, &low, NULL, NULL, NULL, NULL,
                                     NULL);
    code_lines_of(module, low + offset, lines, CODE_LINES_MAX);
    if (!*known->function && !known->file)
        return false;
    if (!*known->function)
        snprintf(text, bytes, "%s:%d", base_name(known->file), known->line);
    else if (!known->file)
        snprintf(text, bytes, "%s+0x%" PRIx64, known->function, known->within);
    else
        snprintf(text, bytes, "%s (%s:%d)", known->function,
                 base_name(known->file), known->line);
    return true;
}

static bool by_libdw(const struct code_place *place, char *text, size_t bytes)
{
    Dwfl_Callbacks callbacks = {
        .find_elf = no_elf,
        .find_debuginfo = no_debuginfo,
    };
    Dwfl_Module *module;
    bool found = false;
    Dwfl *dwfl;

    if (!code_line_open(true))
        return false;
    callbacks.section_address = code_line_libdw.dwfl_offline_section_address;
    code_line_lock();
    dwfl = code_line_libdw.dwfl_begin(&callbacks);
    if (dwfl) {
        code_line_libdw.dwfl_report_begin(dwfl);
        module = code_line_libdw.dwfl_report_elf(dwfl, place->object,
                                                 place->object, -1, 0, true);
        code_line_libdw.dwfl_report_end(dwfl, NULL, NULL);
        found = module && describe(module, place->offset, text, bytes);
        code_line_libdw.dwfl_end(dwfl);
    }
    code_line_unlock();
    return found;
}

#else

static bool by_libdw(const struct code_place *place, char *text, size_t bytes)
{
    (void)place, (void)text, (void)bytes;
    return false;
}

#endif

const char *place_text(const struct code_place *place, char *text, size_t bytes)
{
    text[0] = 0;
    if (place->object[0] &&
        (place->object[0] != '/' || !by_libdw(place, text, bytes)))
        snprintf(text, bytes, "%s+0x%" PRIx64, base_name(place->object),
                 place->offset);
    return text;
}
