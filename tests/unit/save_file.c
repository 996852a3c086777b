/* The format of saved regions: what is written is read, what is not as it was
 * written is refused, and said why (save/save.h). */
#include "memory_common.h"

#include <errno.h>
#include <pthread.h>

#include "memory/sanitizer.h"
#include "save/bytes.h"
#include "save/save.h"

#define BASE UINT64_C(0x110000000000)

/* Places where a large file ends too early; ThreadSanitizer takes 3 s for each. */
#define TRIES (SANITIZER_THREAD ? 5 : 37)

/* A file in memory. */
struct memory_file {
    unsigned char *bytes;
    size_t count, at;
    size_t most;  /* writing more fails */
    size_t piece; /* reads give so much at a time; 0: all */
};

static int write_memory(void *arg, const void *bytes, size_t count)
{
    struct memory_file *f = arg;

    if (f->most && f->count + count > f->most)
        return DRASYNC_EFILE;
    f->bytes = realloc(f->bytes, f->count + count + 1);
    REQUIRE(f->bytes);
    memcpy(f->bytes + f->count, bytes, count);
    f->count += count;
    return 0;
}

static int read_memory(void *arg, void *bytes, size_t count, size_t *got_out)
{
    struct memory_file *f = arg;
    size_t got = f->count - f->at < count ? f->count - f->at : count;

    if (f->piece && got > f->piece)
        got = f->piece;
    memcpy(bytes, f->bytes + f->at, got);
    f->at += got;
    *got_out = got;
    return 0;
}

/* A top region of two extents with two names, and one below it with one. */
static struct save_region regions[] = {
    {BASE + 0x1000, SAVE_NO_PARENT, 2},
    {BASE + 0x3000, 0, 1},
};
static struct save_extent extents[] = {
    {BASE + 0x1000, 1, 700},
    {BASE + 0x800000, 600, 600 * 4096},
    {BASE + 0x3000, 1, 4096},
};
static struct save_name names[] = {
    {0, "one"},
    {0, "another, with \"quotes\""},
    {1, "of 63 bytes, as long as a name may be without its end, to the ."},
};

static struct save_table table_new(void)
{
    struct save_table t = {
        .base = BASE,
        .space_bytes = UINT64_C(1) << 40,
        .when_ns = 1234567890,
        .regions = 2,
        .extents = 3,
        .names = 3,
        .writer = DRASYNC_VERSION,
        .region = regions,
        .extent = extents,
        .name = names,
    };

    for (int i = 0; i < 3; i++)
        t.data_bytes += extents[i].used_bytes;
    return t;
}

/* Half of it can be compressed. */
static unsigned char data_at(uint64_t i)
{
    return i / 1000000 % 2 ? (unsigned char)(i * i * 2654435761u >> 13) : 7;
}

/* Threads that help to write, and after how many none can be started. */
static unsigned helpers, helpers_most = SAVE_HELPERS_MAX, helpers_started;

static int start_helper(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    if (helpers_started == helpers_most)
        return EAGAIN;
    helpers_started++;
    return pthread_create(thread, NULL, run, arg);
}

static int write_file(struct memory_file *f, const struct save_table *t)
{
    struct save_writer *writer;
    unsigned char piece[1000];
    uint64_t done = 0;
    int err = save_writer_new(t, write_memory, f, &writer);

    if (err)
        return err;
    helpers_started = 0;
    REQUIRE(save_writer_help(writer, helpers, start_helper) == helpers_started);
    while (done < t->data_bytes && !err) {
        size_t n = t->data_bytes - done < sizeof(piece)
                       ? (size_t)(t->data_bytes - done)
                       : sizeof(piece);

        for (size_t i = 0; i < n; i++)
            piece[i] = data_at(done + i);
        err = save_writer_put(writer, piece, n);
        done += n;
    }
    if (!err)
        err = save_writer_end(writer);
    save_writer_free(writer);
    return err;
}

/* Read it all; *same_out: the data is as it was. */
static int read_file(struct memory_file *f, struct save_table *t, int *same_out,
                     char why[SAVE_WHY_BYTES])
{
    struct save_reader *reader;
    unsigned char piece[777];
    uint64_t done = 0;
    int err;

    f->at = 0;
    *same_out = 1;
    err = save_reader_new(read_memory, f, t, &reader, why);
    if (err)
        return err;
    while (done < t->data_bytes && !err) {
        size_t n = t->data_bytes - done < sizeof(piece)
                       ? (size_t)(t->data_bytes - done)
                       : sizeof(piece);

        err = save_reader_get(reader, piece, n, why);
        for (size_t i = 0; i < n && !err; i++)
            *same_out &= piece[i] == data_at(done + i);
        done += n;
    }
    if (!err)
        err = save_reader_end(reader, why);
    save_reader_free(reader);
    return err;
}

/* Is it refused, and does it say @what? */
static int is_refused(struct memory_file *f, const char *what)
{
    char why[SAVE_WHY_BYTES] = "";
    struct save_table t = {0};
    int same, err = read_file(f, &t, &same, why);

    save_table_free(&t);
    if (err == DRASYNC_EFORMAT && strstr(why, what))
        return 1;
    printf("# %d: %s\n", err, why);
    return 0;
}

static void there_and_back(void)
{
    struct save_table t = table_new(), back = {0};
    struct memory_file f = {0};
    char why[SAVE_WHY_BYTES];
    int same;

    tap_ok(!write_file(&f, &t) && !read_file(&f, &back, &same, why) && same,
           "what was written is read");
    tap_ok(back.base == BASE && back.space_bytes == UINT64_C(1) << 40 &&
               back.when_ns == 1234567890 && back.regions == 2 &&
               !strcmp(back.writer, DRASYNC_VERSION) &&
               back.region[1].parent == 0 && back.extent[1].pages == 600 &&
               back.extent[0].used_bytes == 700,
           "so is the table");
    tap_ok(!strcmp(back.name[2].name, names[2].name) && back.names == 3 &&
               back.name[2].region == 1 &&
               strlen(back.name[2].name) == DRASYNC_NAME_MAX,
           "and the names");
    save_table_free(&back);
    f.piece = 3;
    tap_ok(!read_file(&f, &back, &same, why) && same,
           "reads that give three bytes at a time will do");
    save_table_free(&back);
    if (save_compresses())
        tap_ok(f.count < t.data_bytes * 2 / 3, "what can be is compressed");
    else
        tap_skip("what can be is compressed", "built without zstd");
    free(f.bytes);

    f = (struct memory_file){.most = f.count - 1};
    tap_ok(write_file(&f, &t) == DRASYNC_EFILE,
           "an error of the write function is the result");
    free(f.bytes);
    t.extents = t.regions = 1;
    t.names = 0;
    regions[0].extents = 1;
    extents[0].used_bytes = t.data_bytes = 0;
    f = (struct memory_file){0};
    tap_ok(!write_file(&f, &t) && !read_file(&f, &back, &same, why),
           "a region may have no data at all");
    regions[0].extents = 2;
    extents[0].used_bytes = 700;
    save_table_free(&back);
    free(f.bytes);
}

/* Written with so many helpers, it is read, and is as it was. */
static int is_same(const struct save_table *t, unsigned count, unsigned most,
                   size_t *bytes_out)
{
    struct memory_file f = {0};
    struct save_table back = {0};
    char why[SAVE_WHY_BYTES];
    int same, ok;

    helpers = count;
    helpers_most = most;
    ok = !write_file(&f, t) && !read_file(&f, &back, &same, why) && same;
    save_table_free(&back);
    free(f.bytes);
    *bytes_out = f.count;
    return ok;
}

/* Any number of threads, of which some cannot be started, and files that cannot be
 * written to the end. */
static void helped(void)
{
    struct save_table t = table_new();
    size_t whole, bytes, failed = 0, tried = 0, good = 0;

    extents[1].address = BASE + 0x4000000;
    extents[1].pages = 10000;
    extents[1].used_bytes = 10000 * 4096;
    t.data_bytes = 700 + 10000 * 4096 + 4096;
    REQUIRE(is_same(&t, 0, 0, &whole));
    for (unsigned n = 1; n <= SAVE_HELPERS_MAX + 1; n++)
        good += (size_t)is_same(&t, n, SAVE_HELPERS_MAX, &bytes);
    tap_ok(good == SAVE_HELPERS_MAX + 1, "threads may help to write a file");
    tap_ok(helpers_started == SAVE_HELPERS_MAX, "not more than there may be");
    tap_ok(bytes < whole + whole / 4, "and it is compressed as well");
    tap_ok(is_same(&t, 4, 0, &bytes) && is_same(&t, 4, 2, &bytes) &&
               helpers_started == 2,
           "if none can be started, or only some, it is written without");
    helpers = helpers_most = 3;
    for (size_t most = 1; most < bytes; most += bytes / TRIES, tried++) {
        struct memory_file f = {.most = most};

        failed += write_file(&f, &t) == DRASYNC_EFILE;
        free(f.bytes);
    }
    tap_ok(failed == tried, "where it cannot be written they end too");
    helpers = 0;
    extents[1].address = BASE + 0x800000;
    extents[1].pages = 600;
    extents[1].used_bytes = 600 * 4096;
}

/* Every length, and a change of every byte near the ends and of some between. */
static void damaged(void)
{
    struct save_table t = table_new();
    struct memory_file f = {0};
    size_t whole, refused = 0, tried = 0;
    char why[SAVE_WHY_BYTES];

    REQUIRE(!write_file(&f, &t));
    whole = f.count;
    for (f.count = 0; f.count < whole; tried++) {
        struct save_table back = {0};
        int same;

        refused += read_file(&f, &back, &same, why) == DRASYNC_EFORMAT &&
                   (strstr(why, "cut") || f.count < 8);
        save_table_free(&back);
        f.count += f.count < 600 || f.count > whole - 100 ? 1 : 99991;
        if (f.count > whole - 100 && f.count < whole - 99)
            f.count = whole - 100;
    }
    tap_ok(refused == tried && tried > 600, "a file that is cut is refused");
    f.count = whole;
    for (refused = tried = 0; tried < 2000; tried++) {
        size_t at = tried < 600    ? tried
                    : tried < 1000 ? whole - 1 - (tried - 600)
                                   : tried * 7919 % whole;
        struct save_table back = {0};
        int same;

        f.bytes[at] ^= (unsigned char)(1 << tried % 8);
        refused += read_file(&f, &back, &same, why) == DRASYNC_EFORMAT;
        save_table_free(&back);
        f.bytes[at] ^= (unsigned char)(1 << tried % 8);
    }
    tap_ok(refused == tried, "a file of which one bit is changed is refused");
    f.count = 0;
    tap_ok(is_refused(&f, "empty"), "an empty one is said to be empty");
    f.count = whole;
    write_memory(&f, "x", 1);
    tap_ok(is_refused(&f, "behind its end"), "and what is longer, too long");
    f.count = whole;
    f.bytes[0] = 'x';
    tap_ok(is_refused(&f, "no file of saved regions"), "a foreign file is");
    f.bytes[0] = 0x89;
    f.bytes[HEADER_VERSION] = 2;
    tap_ok(is_refused(&f, "version 2"), "one of another version is named so");
    f.bytes[HEADER_VERSION] = 1;
    f.bytes[whole - 1]++;
    tap_ok(is_refused(&f, "its end"), "where it is damaged is said");
    free(f.bytes);
}

/* Blocks that are right, but not there. */
static void exchanged(void)
{
    struct save_table t = table_new();
    struct memory_file f = {0}, g = {0};
    size_t first = SAVE_HEADER_BYTES + 2 * SAVE_REGION_BYTES +
                   3 * SAVE_EXTENT_BYTES + 3 * SAVE_NAME_BYTES;

    REQUIRE(!write_file(&f, &t));
    t.when_ns++;
    REQUIRE(!write_file(&g, &t) && f.count == g.count);
    memcpy(f.bytes + first, g.bytes + first, g.count - first);
    tap_ok(is_refused(&f, "block 0"), "a block of another file is refused");
    free(f.bytes);
    free(g.bytes);
}

/* Checksums are right again. */
static void mend(struct memory_file *f)
{
    uint64_t bytes = get64(f->bytes + HEADER_TABLE_BYTES);

    if (bytes <= f->count - SAVE_HEADER_BYTES)
        put64(f->bytes + HEADER_TABLE_SUM,
              checksum(f->bytes + SAVE_HEADER_BYTES, bytes, 0));
    put64(f->bytes + HEADER_SUM, checksum(f->bytes, HEADER_SUM, 0));
}

/* A table with right sums that says what cannot be: *@field is @value. */
static int nonsense(size_t at, uint64_t value, const char *what)
{
    struct save_table t = table_new();
    struct memory_file f = {0};
    int result;

    REQUIRE(!write_file(&f, &t));
    put64(f.bytes + at, value);
    mend(&f);
    result = is_refused(&f, what);
    free(f.bytes);
    return result;
}

static void lies(void)
{
    size_t region = SAVE_HEADER_BYTES, extent = region + 2 * SAVE_REGION_BYTES;
    size_t name = extent + 3 * SAVE_EXTENT_BYTES;

    tap_ok(nonsense(HEADER_REGIONS, 0, "header") &&
               nonsense(HEADER_REGIONS, UINT64_MAX, "header") &&
               nonsense(HEADER_EXTENTS, UINT64_C(1) << 60, "header") &&
               nonsense(HEADER_NAMES, UINT64_MAX, "header") &&
               nonsense(HEADER_TABLE_BYTES, UINT64_C(1) << 50, "header") &&
               nonsense(HEADER_SPACE, UINT64_MAX, "header") &&
               nonsense(HEADER_BASE, 1, "header"),
           "numbers of a header that cannot be are refused");
    tap_ok(nonsense(HEADER_DATA_BYTES, 5, "sums"), "so are wrong sums");
    tap_ok(nonsense(region, BASE + 0x2000, "begin with an extent"),
           "a region begins with its first extent");
    tap_ok(nonsense(region + 8, 2, "parent") &&
               nonsense(region + SAVE_REGION_BYTES + 8, 1 | UINT64_C(1) << 32,
                        "parent"),
           "parents come first");
    tap_ok(nonsense(region + 8, SAVE_NO_PARENT, "no extents") &&
               nonsense(region + 8, SAVE_NO_PARENT | UINT64_C(9) << 32,
                        "than there are"),
           "regions have the extents that there are");
    tap_ok(nonsense(extent, BASE, "outside") &&
               nonsense(extent, 0, "outside") &&
               nonsense(extent + 8, 0, "outside") &&
               nonsense(extent + 8, UINT64_MAX, "outside") &&
               nonsense(extent + SAVE_EXTENT_BYTES,
                        BASE + (UINT64_C(1) << 40) - 4096, "outside"),
           "extents lie inside the space");
    tap_ok(nonsense(extent + SAVE_EXTENT_BYTES, BASE + 0x801000, "where none"),
           "and where the allocator puts them");
    tap_ok(
        nonsense(extent + 2 * SAVE_EXTENT_BYTES, BASE + 0x1000, "begin with"),
        "and are their region's");
    tap_ok(nonsense(extent + 16, 4097, "used"),
           "no more of them is used than there is");
    tap_ok(nonsense(name, 2, "name") && nonsense(name, UINT64_MAX, "name") &&
               nonsense(name + 8, 0, "name"),
           "names are names of regions");
}

static void overlap(void)
{
    struct save_extent kept = extents[1];
    struct save_table t;
    struct memory_file f = {0};

    extents[1] = (struct save_extent){BASE + 0x2000, 2, 4096};
    t = table_new();
    REQUIRE(!write_file(&f, &t));
    tap_ok(is_refused(&f, "in common"), "extents that overlap are refused");
    extents[1] = kept;
    free(f.bytes);
}

int main(void)
{
    if (!save_built()) {
        printf("1..0 # SKIP built without xxHash\n");
        return 0;
    }
    there_and_back();
    helped();
    damaged();
    exchanged();
    lies();
    overlap();
    return tap_end();
}
