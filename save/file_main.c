/* drasync-file: what is in files that drasync_save() wrote. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "save/json.h"
#include "save/save.h"

#define LINES_DEFAULT 20

static const char usage[] =
    "Usage: drasync-file [--json] [--lines N] FILE...\n"
    "Say what is in files that drasync_save() wrote, and whether they are as "
    "written.\n"
    "\n"
    "  --json     all of it, as JSON\n"
    "  --lines N  show N regions (default 20; 0: all)\n"
    "  --help     this text\n"
    "  --version\n"
    "\n"
    "Ends with 0 if all files are right, 1 if one is not, 2 if it cannot be "
    "read.\n";

/* A file, as it was found. */
struct file {
    const char *path;
    int fd;
    uint64_t bytes;
    int error; /* 0, or DRASYNC_EFORMAT ...; why, in words */
    char why[SAVE_WHY_BYTES];
    bool table_read;
    struct save_table table;
};

/* --- Reading -------------------------------------------------------------- */

static int file_read(void *arg, void *bytes, size_t count, size_t *got_out)
{
    struct file *f = arg;
    ssize_t got;

    do
        got = read(f->fd, bytes, count);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        snprintf(f->why, sizeof(f->why), "%s", strerror(errno));
        return DRASYNC_EFILE;
    }
    *got_out = (size_t)got;
    return 0;
}

static int by_region(const void *a, const void *b)
{
    const struct save_name *x = a, *y = b;

    return x->region != y->region ? (x->region > y->region ? 1 : -1)
                                  : strcmp(x->name, y->name);
}

static int read_data(struct file *f, struct save_reader *reader)
{
    char *buffer = malloc(SAVE_BLOCK_BYTES);
    uint64_t left = f->table.data_bytes;
    int err = buffer ? 0 : DRASYNC_ENOMEM;

    while (left && !err) {
        size_t n = left < SAVE_BLOCK_BYTES ? left : SAVE_BLOCK_BYTES;

        err = save_reader_get(reader, buffer, n, f->why);
        left -= n;
    }
    free(buffer);
    return err ? err : save_reader_end(reader, f->why);
}

static void file_look(struct file *f, const char *path)
{
    struct save_reader *reader;
    struct stat about;

    *f = (struct file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (f->fd < 0 || fstat(f->fd, &about)) {
        snprintf(f->why, sizeof(f->why), "%s", strerror(errno));
        f->error = DRASYNC_EFILE;
    } else {
        f->bytes = (uint64_t)about.st_size;
        f->error = save_reader_new(file_read, f, &f->table, &reader, f->why);
        f->table_read = !f->error;
    }
    if (f->table_read) {
        if (f->table.names)
            qsort(f->table.name, f->table.names, sizeof(f->table.name[0]),
                  by_region);
        f->error = read_data(f, reader);
        save_reader_free(reader);
    }
    if (f->error == DRASYNC_ENOMEM)
        snprintf(f->why, sizeof(f->why), "out of memory");
    if (f->fd >= 0)
        close(f->fd);
}

/* --- Saying --------------------------------------------------------------- */

static void print_size(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    int unit = 0;

    while (size >= 1024 && unit < 4) {
        size /= 1024;
        unit++;
    }
    printf(unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void print_when(uint64_t when_ns)
{
    time_t seconds = (time_t)(when_ns / 1000000000);
    struct tm tm;
    char text[64] = "?";

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    fputs(text, stdout);
}

/* In quotes, as JSON has it. */
static void print_string(const char *text)
{
    char character[JSON_CHARACTER_BYTES];

    putchar('"');
    while (*text) {
        text = json_character(text, character);
        fputs(character, stdout);
    }
    putchar('"');
}

/* Control characters would be the terminal's. */
static void print_plain(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

/* What a region has, walking along the table. */
struct walk {
    uint64_t region, extent, name;
    uint64_t used_bytes, pages;
    uint64_t names_from; /* to `name` */
};

static bool walk_next(const struct save_table *t, struct walk *w, uint64_t i)
{
    if (i >= t->regions)
        return false;
    w->region = i;
    w->used_bytes = w->pages = 0;
    for (uint32_t e = 0; e < t->region[i].extents; e++, w->extent++) {
        w->used_bytes += t->extent[w->extent].used_bytes;
        w->pages += t->extent[w->extent].pages;
    }
    for (w->names_from = w->name;
         w->name < t->names && t->name[w->name].region == i;)
        w->name++;
    return true;
}

static uint64_t address_above(const struct save_table *t, uint64_t i)
{
    return t->region[i].parent == SAVE_NO_PARENT
               ? 0
               : t->region[t->region[i].parent].address;
}

static void print_region(const struct save_table *t, const struct walk *w)
{
    const struct save_region *r = &t->region[w->region];
    char above[24] = "-";

    if (address_above(t, w->region))
        snprintf(above, sizeof(above), "0x%" PRIx64,
                 address_above(t, w->region));
    printf("  0x%-16" PRIx64 " %-18s %12" PRIu64 " %8" PRIu32 " ", r->address,
           above, w->used_bytes, r->extents);
    for (uint64_t n = w->names_from; n < w->name; n++) {
        fputs(n > w->names_from ? ", " : " ", stdout);
        print_plain(t->name[n].name);
    }
    putchar('\n');
}

/* The file may be right for all that is known. */
static bool cannot_tell(const struct file *f)
{
    return f->error == DRASYNC_EFILE || f->error == DRASYNC_ENOMEM;
}

static void print_text(const struct file *f, uint64_t lines)
{
    const struct save_table *t = &f->table;
    struct walk w = {0};

    printf("%s: ", f->path);
    if (f->error)
        printf("%s: %s\n", cannot_tell(f) ? "cannot be read" : "WRONG", f->why);
    else
        puts("all checksums are right");
    if (!f->table_read)
        return;
    printf("  saved     ");
    print_when(t->when_ns);
    printf(" by DRASync ");
    print_plain(t->writer);
    printf("\n  regions   %" PRIu64 " with %" PRIu64 " names\n  data      ",
           t->regions, t->names);
    print_size(t->data_bytes);
    printf(" in %" PRIu64 " extents; the file has ", t->extents);
    print_size(f->bytes);
    printf("\n  space     0x%" PRIx64 ", ", t->base);
    print_size(t->space_bytes);
    printf("\n\n  %-18s %-18s %12s %8s  %s\n", "region", "below", "bytes",
           "extents", "names");
    for (uint64_t i = 0; (!lines || i < lines) && walk_next(t, &w, i); i++)
        print_region(t, &w);
    if (lines && t->regions > lines)
        printf("  ... and %" PRIu64 " more (--lines 0: all)\n",
               t->regions - lines);
}

static void print_json_regions(const struct save_table *t)
{
    struct walk w = {0};

    for (uint64_t i = 0; walk_next(t, &w, i); i++) {
        printf("%s\n  {\"address\": \"0x%" PRIx64 "\", \"parent\": ",
               i ? "," : "", t->region[i].address);
        if (address_above(t, i))
            printf("\"0x%" PRIx64 "\"", address_above(t, i));
        else
            fputs("null", stdout);
        printf(", \"bytes\": %" PRIu64 ", \"reserved_bytes\": %" PRIu64
               ", \"extents\": %" PRIu32 ", \"names\": [",
               w.used_bytes, w.pages * SAVE_PAGE_BYTES, t->region[i].extents);
        for (uint64_t n = w.names_from; n < w.name; n++) {
            fputs(n > w.names_from ? ", " : "", stdout);
            print_string(t->name[n].name);
        }
        fputs("]}", stdout);
    }
}

static void print_json(const struct file *f)
{
    const struct save_table *t = &f->table;

    fputs("{\"path\": ", stdout);
    print_string(f->path);
    printf(", \"right\": %s, \"why\": ", f->error ? "false" : "true");
    if (f->error)
        print_string(f->why);
    else
        fputs("null", stdout);
    if (f->table_read) {
        printf(",\n \"format\": %d, \"file_bytes\": %" PRIu64 ", \"saved\": \"",
               SAVE_VERSION, f->bytes);
        print_when(t->when_ns);
        fputs("\", \"by\": ", stdout);
        print_string(t->writer);
        printf(",\n \"base\": \"0x%" PRIx64 "\", \"space_bytes\": %" PRIu64
               ", \"data_bytes\": %" PRIu64 ",\n \"regions\": [",
               t->base, t->space_bytes, t->data_bytes);
        print_json_regions(t);
        fputs("]", stdout);
    }
    fputs("}", stdout);
}

/* --- Arguments ------------------------------------------------------------ */

struct wanted {
    bool json;
    uint64_t lines;
};

/* The status to end with, or -1: go on. */
static int read_options(struct wanted *wanted, int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"lines", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    char *end;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        switch (c) {
        case 'j':
            wanted->json = true;
            break;
        case 'n':
            wanted->lines = strtoull(optarg, &end, 10);
            if (end != optarg && !*end && *optarg != '-')
                break;
            fprintf(stderr, "drasync-file: %s is not a number of lines\n",
                    optarg);
            return 2;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'V':
            printf("drasync-file %s\n", DRASYNC_VERSION);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind < argc)
        return -1;
    fputs(usage, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct wanted wanted = {.lines = LINES_DEFAULT};
    int status = read_options(&wanted, argc, argv), worst = 0;

    if (status >= 0)
        return status;
    if (wanted.json)
        puts("[");
    for (int i = optind; i < argc; i++) {
        struct file f;

        file_look(&f, argv[i]);
        status = cannot_tell(&f) ? 2 : f.error ? 1 : 0;
        if (wanted.json)
            print_json(&f);
        else
            print_text(&f, wanted.lines);
        if (i + 1 < argc || wanted.json)
            puts(wanted.json && i + 1 < argc ? "," : "");
        if (f.table_read)
            save_table_free(&f.table);
        worst = status > worst ? status : worst;
    }
    if (wanted.json)
        puts("]");
    return fflush(stdout) ? 2 : worst;
}
