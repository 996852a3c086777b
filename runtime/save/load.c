/*
 * drasync_load(): see files.h.
 *
 * Regions are made first, with data that is undefined, and filled in as the file
 * is read.  This rank holds them for WRITE and nobody knows of them until all was
 * right; otherwise they are deleted.
 */
#include "runtime/save/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/native/image.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "save/save.h"

/* That an address is in use is said again after so long. */
#define SAID_AGAIN_US 10000000

struct input {
    int fd;
    const char *path;
};

/* save_read_fn. */
static int input_read(void *arg, void *bytes, size_t count, size_t *got_out)
{
    const struct input *input = arg;
    ssize_t got;

    do
        got = read(input->fd, bytes, count);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        runtime_say("cannot read %s: %s", input->path, strerror(errno));
        return DRASYNC_EFILE;
    }
    *got_out = (size_t)got;
    return 0;
}

static int image_fill(struct native_image *image, const struct save_table *t)
{
    *image = (struct native_image){
        .regions = t->regions,
        .extents = t->extents,
        .region = calloc(t->regions, sizeof(*image->region)),
        .extent = calloc(t->extents, sizeof(*image->extent)),
    };
    if (!image->region || !image->extent)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < t->regions; i++) {
        image->region[i].address = t->region[i].address;
        image->region[i].parent = t->region[i].parent;
        image->region[i].extents = t->region[i].extents;
    }
    for (uint64_t i = 0; i < t->extents; i++) {
        image->extent[i].address = t->extent[i].address;
        image->extent[i].pages = t->extent[i].pages;
        image->extent[i].used_bytes = t->extent[i].used_bytes;
    }
    return 0;
}

static int read_data(const struct native_image *image,
                     struct save_reader *reader, char *why)
{
    int err = 0;

    for (uint64_t i = 0; i < image->extents && !err; i++)
        err =
            save_reader_get(reader, (void *)(uintptr_t)image->extent[i].address,
                            image->extent[i].used_bytes, why);
    if (!err)
        err = save_reader_end(reader, why);
    for (uint64_t i = 0; i < image->regions && !err; i++) {
        err = native_image_check(image, i);
        if (err)
            strncpy(why, "a region in it has no heap that makes sense",
                    SAVE_WHY_BYTES - 1);
    }
    return err;
}

static int refuse_name(const char *name, const char *path)
{
    runtime_say("cannot load %s: a region is published as %s already", path,
                name);
    return DRASYNC_EEXIST;
}

/* All names are looked at before the first is published, as those who wait for
 * that have the region at once. */
static int publish(const struct save_table *t, const char *path)
{
    uint64_t address;
    int err = 0;

    for (uint64_t i = 0; i < t->names && !err; i++) {
        err = names_lookup(t->name[i].name, 0, &address);
        if (!err)
            return refuse_name(t->name[i].name, path);
        err = err == DRASYNC_EAGAIN ? 0 : err;
    }
    for (uint64_t i = 0; i < t->names && !err; i++) {
        address = t->region[t->name[i].region].address;
        err = native_publish(t->name[i].name,
                             (drasync_region_t)(uintptr_t)address);
        if (err == DRASYNC_EEXIST)
            refuse_name(t->name[i].name, path);
    }
    return err;
}

/* Was the same address said to be in use just now, as to who tries again and
 * again?  Relaxed: one line more does no harm. */
static bool said_just_now(uint64_t address)
{
    static _Atomic uint64_t last_address, last_us;
    uint64_t now = runtime_now_us();

    if (atomic_load_explicit(&last_address, memory_order_relaxed) == address &&
        now - atomic_load_explicit(&last_us, memory_order_relaxed) <
            SAID_AGAIN_US)
        return true;
    atomic_store_explicit(&last_address, address, memory_order_relaxed);
    atomic_store_explicit(&last_us, now, memory_order_relaxed);
    return false;
}

static void say_taken(const char *path, uint64_t address,
                      const struct save_table *t)
{
    uint64_t base = (uint64_t)(uintptr_t)runtime.space.base;
    uint64_t bytes = runtime.space.layout.data_bytes;

    if (said_just_now(address))
        return;
    if (address && address - base >= bytes)
        runtime_say("cannot load %s: address 0x%llx is outside of this job's "
                    "space, 0x%llx to 0x%llx; it was saved with "
                    "DRASYNC_SPACE=%lluM",
                    path, (unsigned long long)address, (unsigned long long)base,
                    (unsigned long long)(base + bytes),
                    (unsigned long long)t->space_bytes >> 20);
    else
        runtime_say(
            "cannot load %s: address 0x%llx is in use in this job; load "
            "before regions are made, or again in a while if it was "
            "just deleted",
            path, (unsigned long long)address);
}

/* The regions are there: fill them in. */
static int load_made(const char *path, const struct save_table *table,
                     const struct native_image *image,
                     struct save_reader *reader, drasync_region_t top,
                     char *why)
{
    int err = read_data(image, reader, why);

    if (!err)
        err = publish(table, path);
    if (err)
        native_image_drop(image, top);
    return err;
}

static void tell(const struct save_table *t, const struct files_loaded *loaded)
{
    for (uint64_t i = 0; i < t->regions; i++) {
        uint32_t above = t->region[i].parent;
        uint64_t parent =
            above == SAVE_NO_PARENT ? 0 : t->region[above].address;

        loaded->region((drasync_region_t)(uintptr_t)t->region[i].address,
                       (drasync_region_t)(uintptr_t)parent);
    }
    for (uint64_t i = 0; i < t->names; i++) {
        uint64_t address = t->region[t->name[i].region].address;

        loaded->name(t->name[i].name, (drasync_region_t)(uintptr_t)address);
    }
}

static int load_table(const char *path, const struct save_table *table,
                      struct save_reader *reader, drasync_region_t *region_out,
                      char *why)
{
    drasync_region_t top =
        (drasync_region_t)(uintptr_t)table->region[0].address;
    struct native_image image;
    uint64_t refused;
    int err = image_fill(&image, table);

    if (!err)
        err = native_image_make(&image, &refused);
    if (err == DRASYNC_ETAKEN)
        say_taken(path, refused, table);
    if (!err) {
        err = load_made(path, table, &image, reader, top, why);
        if (!err)
            *region_out = top;
    }
    native_image_free(&image);
    return err;
}

int files_load(const char *path, const struct files_loaded *loaded,
               drasync_region_t *region_out)
{
    struct input input = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    char why[SAVE_WHY_BYTES] = "";
    struct save_reader *reader;
    struct save_table table;
    int err;

    if (input.fd < 0) {
        runtime_say("cannot read %s: %s", path, strerror(errno));
        return DRASYNC_EFILE;
    }
    err = save_reader_new(input_read, &input, &table, &reader, why);
    if (!err) {
        err = load_table(path, &table, reader, region_out, why);
        save_reader_free(reader);
        if (!err)
            tell(&table, loaded);
        save_table_free(&table);
    }
    if (err && why[0])
        runtime_say("cannot load %s: %s", path, why);
    close(input.fd);
    return err;
}
