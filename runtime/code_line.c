/* Functions, files and lines, by libdw: see code_line.h. */
#include "runtime/code_line.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t users = PTHREAD_MUTEX_INITIALIZER;

void code_line_lock(void)
{
    pthread_mutex_lock(&users);
}

void code_line_unlock(void)
{
    pthread_mutex_unlock(&users);
}

bool code_line_is_header(const char *file)
{
    const char *name = file ? strrchr(file, '/') : NULL;
    const char *folder = name;

    if (!name)
        return file && !strcmp(file, "drasync.hpp");
    while (folder > file && folder[-1] != '/')
        folder--;
    return !strcmp(name, "/drasync.hpp") ||
           (!strncmp(folder, "drasync/", 8) && strlen(name) > 4 &&
            !strcmp(name + strlen(name) - 4, ".hpp"));
}

#if HAVE_LIBDW

struct code_line_libdw code_line_libdw;

/* The C++ library's, of which this one has no part. */
typedef char *demangle_fn(const char *name, char *buffer, size_t *bytes,
                          int *status);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool tried, tried_others, there;
static demangle_fn *demangle;

static void *find(void *library, const char *name, bool *all)
{
    void *f = dlsym(library, name);

    *all &= f != NULL;
    return f;
}

static bool load(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
    void *f;

    if (!library)
        return false;
#define LOAD(name)                  \
    f = find(library, #name, &all); \
    memcpy(&code_line_libdw.name, &f, sizeof(f));
    CODE_LINE_CALLS(LOAD)
#undef LOAD
    return all;
}

static void find_demangle(bool others)
{
    void *f = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library =
        !f && others ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;

    if (library)
        f = dlsym(library, "__cxa_demangle");
    memcpy(&demangle, &f, sizeof(f));
}

bool code_line_open(bool others)
{
    pthread_mutex_lock(&mutex);
    if (!tried)
        there = load();
    if (there && (!tried || (others && !tried_others && !demangle)))
        find_demangle(others);
    tried = true;
    tried_others |= others;
    pthread_mutex_unlock(&mutex);
    return there;
}

/* --- Names ---------------------------------------------------------------- */

/* Up to the parameters: where a bracket opens that is in no other one. */
static size_t without_parameters(const char *name)
{
    int depth = 0;
    size_t i;

    if (!strncmp(name, "(anonymous namespace)", 21))
        return 21 + without_parameters(name + 21);
    for (i = 0; name[i]; i++) {
        /* operator<, operator-> and the like are names, and close nothing. */
        if (!strncmp(name + i, "operator", 8)) {
            i += 7;
            while (name[i + 1] && strchr("<>-=", name[i + 1]))
                i++;
        } else if (name[i] == '<') {
            depth++;
        } else if (name[i] == '>') {
            depth--;
        } else if (name[i] == '(' && !depth) {
            if (strncmp(name + i, "(anonymous namespace)", 21))
                break;
            i += 20;
        }
    }
    return i;
}

static void set_function(struct code_line *out, const char *name)
{
    char *plain = NULL;
    size_t length;
    int status = 0;

    if (!name)
        return;
    if (demangle && !strncmp(name, "_Z", 2))
        plain = demangle(name, NULL, NULL, &status);
    if (plain)
        length = without_parameters(plain);
    else /* what the compiler cloned has a suffix, as walk.constprop.0 */
        length = *name == '.' ? strlen(name) : strcspn(name, ".");
    if (length >= sizeof(out->function))
        length = sizeof(out->function) - 1;
    memcpy(out->function, plain ? plain : name, length);
    out->function[length] = 0;
    free(plain);
}

/* --- What was inlined ----------------------------------------------------- */

/* Attribute @what of @die; 0: it has none. */
static Dwarf_Word number_of(Dwarf_Die *die, unsigned what)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;

    if (!code_line_libdw.dwarf_attr(die, what, &attribute) ||
        code_line_libdw.dwarf_formudata(&attribute, &value))
        return 0;
    return value;
}

/* Where @inlined, of @unit, was called: true, with file and line. */
static bool called_at(Dwarf_Die *unit, Dwarf_Die *inlined,
                      struct code_line *out)
{
    Dwarf_Word file = number_of(inlined, DW_AT_call_file);
    Dwarf_Word line = number_of(inlined, DW_AT_call_line);
    const char *name;
    Dwarf_Files *files;
    size_t count;

    if (!line || code_line_libdw.dwarf_getsrcfiles(unit, &files, &count) ||
        file >= count)
        return false;
    name = code_line_libdw.dwarf_filesrc(files, file, NULL, NULL);
    if (!name)
        return false;
    out->file = name;
    out->line = (int)line;
    return true;
}

/* The scopes at @address of @unit, the innermost first, as they lie in the code:
 * dwarf_getscopes() goes on with where an inlined function was defined. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *defined = NULL;
    int count = code_line_libdw.dwarf_getscopes(unit, address, &defined);
    int found = 0;

    for (int i = 0; i < count && !found; i++)
        if (code_line_libdw.dwarf_tag(&defined[i]) == DW_TAG_inlined_subroutine)
            found = code_line_libdw.dwarf_getscopes_die(&defined[i], scopes);
    free(defined);
    return found;
}

/* The name that @die, of a function, was compiled by. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (code_line_libdw.dwarf_attr_integrate(die, DW_AT_linkage_name,
                                             &attribute))
        name = code_line_libdw.dwarf_formstring(&attribute);
    return name ? name : code_line_libdw.dwarf_diename(die);
}

/* Is nobody going to look for a mistake there? */
static bool is_left_out(const char *file)
{
    return code_line_is_header(file) || (file && strstr(file, "/include/c++/"));
}

/* The functions inlined at @address of @module, where *at is, into @out, of
 * @max: how many; *at is where the outermost was called then. */
static int inlined_at(Dwfl_Module *module, Dwarf_Addr address,
                      struct code_line *at, struct code_line *out, int max)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit =
        code_line_libdw.dwfl_module_addrdie(module, address, &bias);
    Dwarf_Die *scopes = NULL;
    int scopes_count = unit ? scopes_at(unit, address - bias, &scopes) : 0;
    int count = 0;

    for (int i = 0; i < scopes_count; i++) {
        int tag = code_line_libdw.dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_subprogram)
            break;
        if (tag != DW_TAG_inlined_subroutine)
            continue;
        if (count < max && !is_left_out(at->file)) {
            out[count] = *at;
            set_function(&out[count++], name_of(&scopes[i]));
        }
        if (!called_at(unit, &scopes[i], at))
            break;
    }
    free(scopes);
    return count;
}

int code_lines_of(Dwfl_Module *module, Dwarf_Addr address,
                  struct code_line *out, int max)
{
    struct code_line at = {.file = NULL};
    GElf_Off within = 0;
    GElf_Sym symbol;
    Dwfl_Line *line;
    int count = 0;

    if (module) {
        line = code_line_libdw.dwfl_module_getsrc(module, address);
        if (line)
            at.file = code_line_libdw.dwfl_lineinfo(line, NULL, &at.line, NULL,
                                                    NULL, NULL);
        if (at.file)
            count = inlined_at(module, address, &at, out, max - 1);
        set_function(&at,
                     code_line_libdw.dwfl_module_addrinfo(
                         module, address, &within, &symbol, NULL, NULL, NULL));
        at.within = within;
    }
    out[count] = at;
    return count + 1;
}

#endif
