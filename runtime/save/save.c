/*
 * drasync_save(): see files.h.
 *
 * Under a READ hold the subtree's frames stay as they are, whatever writers do;
 * they are read through the window, block by block, so nothing is in memory
 * twice.  Where the calling thread may use several processors, threads help it to
 * compress.
 */
#include "runtime/save/files.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/native/image.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/save/output.h"
#include "runtime/save/progress.h"
#include "runtime/say.h"
#include "runtime/services/names.h"
#include "runtime/thread.h"
#include "save/save.h"

/* --- The table ------------------------------------------------------------ */

/* Regions of an image that are asked about together. */
struct asked {
    size_t count;
    struct names_region region[NAMES_OF_MAX];
    uint32_t number[NAMES_OF_MAX]; /* in the image */
};

static int names_add(struct save_table *t, const uint32_t *numbers,
                     const struct names_found *found, size_t count)
{
    struct save_name *more =
        realloc(t->name, (t->names + count) * sizeof(*more));

    if (!more)
        return DRASYNC_ENOMEM;
    t->name = more;
    for (size_t i = 0; i < count; i++) {
        struct save_name *name = &t->name[t->names++];

        name->region = numbers[found[i].region];
        memcpy(name->name, found[i].name, sizeof(name->name));
    }
    return 0;
}

static int names_ask(struct save_table *t, const struct asked *asked)
{
    int err = 0;

    for (size_t i = 0, n; i < asked->count && !err; i += n) {
        struct names_found *found = NULL;
        size_t count = 0;

        n = asked->count - i;
        err = names_of(asked->region + i, n, &found, &count);
        for (; err == DRASYNC_ELIMIT && n > 1; n = (n + 1) / 2)
            err = names_of(asked->region + i, (n + 1) / 2, &found, &count);
        if (!err && count)
            err = names_add(t, asked->number + i, found, count);
        free(found);
    }
    return err;
}

/* Names are asked for at node 0, but not those of regions that have none. */
static int names_fill(struct save_table *t, const struct native_image *image)
{
    struct asked *asked = malloc(sizeof(*asked));
    int err = asked ? 0 : DRASYNC_ENOMEM;
    uint64_t i = 0;

    while (i < image->regions && !err) {
        asked->count = 0;
        for (; i < image->regions && asked->count < NAMES_OF_MAX; i++) {
            const struct native_image_region *r = &image->region[i];

            if (r->nameless)
                continue;
            asked->number[asked->count] = (uint32_t)i;
            asked->region[asked->count++] = (struct names_region){
                .address = r->address, .incarnation = r->incarnation};
        }
        err = names_ask(t, asked);
    }
    free(asked);
    return err;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int table_fill(struct save_table *t, const struct native_image *image)
{
    *t = (struct save_table){
        .base = (uint64_t)(uintptr_t)runtime.space.base,
        .space_bytes = runtime.space.layout.data_bytes,
        .when_ns = now_ns(),
        .regions = image->regions,
        .extents = image->extents,
        .region = malloc(image->regions * sizeof(*t->region)),
        .extent = malloc(image->extents * sizeof(*t->extent)),
        .writer = DRASYNC_VERSION,
    };
    if (!t->region || !t->extent)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < image->regions; i++)
        t->region[i] = (struct save_region){
            .address = image->region[i].address,
            .parent = image->region[i].parent,
            .extents = image->region[i].extents,
        };
    for (uint64_t i = 0; i < image->extents; i++) {
        t->extent[i] = (struct save_extent){
            .address = image->extent[i].address,
            .pages = image->extent[i].pages,
            .used_bytes = image->extent[i].used_bytes,
        };
        t->data_bytes += t->extent[i].used_bytes;
    }
    return names_fill(t, image);
}

_Static_assert(NATIVE_IMAGE_NO_PARENT == SAVE_NO_PARENT, "one word for none");

/* --- The file ------------------------------------------------------------- */

/* A thread is not worth its start for less. */
#define HELPER_BYTES ((uint64_t)4 << 20)

/* Data that is handed on between two looks at the clock. */
#define PIECE_BYTES ((size_t)4 << 20)

/* Of machines with more processors, the first so many count. */
#define PROCESSORS_MAX 8192

/* How many threads may help this one: as many as it may use further processors. */
static unsigned helpers_for(uint64_t bytes)
{
    cpu_set_t *set = CPU_ALLOC(PROCESSORS_MAX);
    size_t size = CPU_ALLOC_SIZE(PROCESSORS_MAX);
    uint64_t helpers = bytes / HELPER_BYTES;
    int processors = 1;

    if (set && !sched_getaffinity(0, size, set))
        processors = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (helpers > SAVE_HELPERS_MAX)
        helpers = SAVE_HELPERS_MAX;
    return helpers < (unsigned)processors ? (unsigned)helpers
                                          : (unsigned)processors - 1;
}

static int start_helper(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    int err = thread_create(thread, run, arg);

    if (!err)
        pthread_setname_np(*thread, "drasync-saves");
    return err;
}

static int put_extent(struct save_writer *writer,
                      const struct native_image_extent *extent,
                      struct progress *progress, uint64_t *done)
{
    const char *from =
        space_window(&runtime.space, extent->offset, extent->used_bytes);
    uint64_t at = 0;
    int err = 0;

    while (at < extent->used_bytes && !err) {
        uint64_t left = extent->used_bytes - at;
        size_t bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

        err = save_writer_put(writer, from + at, bytes);
        at += bytes;
        *done += bytes;
        if (progress->fd >= 0)
            progress_show(progress, *done, runtime_now_us());
    }
    return err;
}

static int write_file(const struct save_table *t,
                      const struct native_image *image, struct output *output,
                      struct progress *progress)
{
    struct save_writer *writer;
    uint64_t done = 0;
    int err = save_writer_new(t, output_write, output, &writer);

    if (err)
        return err;
    save_writer_help(writer, helpers_for(t->data_bytes), start_helper);
    for (uint64_t i = 0; i < image->extents && !err; i++)
        err = put_extent(writer, &image->extent[i], progress, &done);
    if (!err)
        err = save_writer_end(writer);
    save_writer_free(writer);
    return err;
}

/* Progress is shown for a call, not for what a thread of ours does by itself. */
static int save_held(const struct native_image *image, struct output *output,
                     bool show, struct progress *progress)
{
    struct save_table table;
    int err = table_fill(&table, image);

    progress_begin(progress, show ? STDERR_FILENO : -1, output->path,
                   table.data_bytes, runtime_now_us());
    if (!err)
        err = write_file(&table, image, output, progress);
    save_table_free(&table);
    return err;
}

/* @only: save nothing else, and stop when @stop says so; or NULL. */
static int save(drasync_region_t region, const char *path,
                const struct names_region *only, native_stop_fn *stop)
{
    struct native_image image;
    struct progress progress;
    struct output output;
    int err;

    if (!save_built()) {
        runtime_say("cannot save: this DRASync was built without xxHash");
        return DRASYNC_EFILE;
    }
    err = native_image_take(region, stop, &image);
    if (err)
        return err;
    err = only && (!image.root ||
                   image.region[0].incarnation != only->incarnation)
              ? DRASYNC_EINVAL
              : output_open(&output, path);
    if (err) {
        native_image_give(&image);
        return err;
    }
    err = save_held(&image, &output, !only, &progress);
    native_image_give(&image);
    /* What is written does not change: nobody waits for the disk. */
    if (!err)
        err = output_commit(&output);
    progress_end(&progress);
    output_close(&output);
    return err;
}

int files_save(drasync_region_t region, const char *path)
{
    return save(region, path, NULL, NULL);
}

int files_save_root(const struct names_region *region, const char *path,
                    bool (*stop)(void))
{
    return save((drasync_region_t)(uintptr_t)region->address, path, region,
                stop);
}
