/* The calls of upmlib.h. */
#include "upmlib.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upm/intercept.h"
#include "upm/place.h"
#include "upm/state.h"

struct upm_state upm = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What a thread's last failed call found.  Not thread-local storage, of which a
 * library that is loaded at run time may have little. */
static pthread_key_t error_key;
static pthread_once_t error_once = PTHREAD_ONCE_INIT;
static int error_possible;

static void error_open(void)
{
    error_possible = !pthread_key_create(&error_key, free);
}

static char *error_room(void)
{
    char *text;

    pthread_once(&error_once, error_open);
    if (!error_possible)
        return NULL;
    text = pthread_getspecific(error_key);
    if (!text && (text = calloc(1, UPM_LINE_BYTES)) &&
        pthread_setspecific(error_key, text)) {
        free(text);
        text = NULL;
    }
    return text;
}

int upm_fail(int err, const char *format, ...)
{
    char *text = error_room();
    va_list list;

    va_start(list, format);
    if (text)
        vsnprintf(text, UPM_LINE_BYTES, format, list);
    va_end(list);
    return err;
}

const char *upmlib_error(void)
{
    const char *text = error_room();

    return text ? text : "";
}

/* Lock; 0, or -EPERM and not locked: upmlib_init() was not called. */
static int enter(const char *call)
{
    pthread_mutex_lock(&upm.lock);
    if (upm.started)
        return 0;
    pthread_mutex_unlock(&upm.lock);
    return upm_fail(-EPERM, "%s: call upmlib_init() first", call);
}

static void before_fork(void)
{
    pthread_mutex_lock(&upm.lock);
    upm_intercept_before_fork();
}

static void after_fork(void)
{
    upm_intercept_after_fork();
    pthread_mutex_unlock(&upm.lock);
}

static void after_fork_in_child(void)
{
    upm_intercept_after_fork();
    if (upm.source)
        upm.source->forked();
    upm.source = NULL;
    upm.forked = true;
    upm.sample_ms = 0;
    upm_areas_forked();
    upm_helper_forked();
    pthread_mutex_unlock(&upm.lock);
}

/* Threads that begin take the lock, whether the library is in use or not. */
__attribute__((constructor)) static void know_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

int upmlib_init(void)
{
    char why[UPM_LINE_BYTES];
    int err = 0;

    pthread_mutex_lock(&upm.lock);
    if (upm.started)
        goto out;
    err = upm_options_read(&upm.options, why);
    if (err) {
        upm_fail(err, "%s", why);
        goto out;
    }
    upm_host_open(&upm.host);
    upm.stats = (struct upmlib_stats){.nodes = upm.host.nodes};
    upm.iterative = (struct upm_iterative){0};
    upm.paused = upm.recording = upm.replayed = false;
    upm.placed = 0;
    upm.started = true;
    upm.sample_ms = upm_idle() ? 0 : upm.options.sample_ms;
    upm.paused = upm.sample_ms > 0;
out:
    upm_unlock();
    return err;
}

/* What is wrong with an area, for upmlib_error(). */
static int refuse_area(int err, const void *start, size_t bytes)
{
    static const struct {
        int err;
        const char *text;
    } texts[] = {
        {-EEXIST, "it overlaps a hot area"},
        {-EFAULT, "it is not all mapped for reading and writing"},
        {-EINVAL, "that is no area of memory"},
        {-ENOSPC, "there are as many hot areas as there can be"},
        {-ENOMEM, "there is no memory for its counters"},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].err == err)
            return upm_fail(err, "upmlib_memrefcnt(%p, %zu): %s", start, bytes,
                            texts[i].text);
    }
    return err;
}

static int add_area(const void *start, size_t bytes)
{
    struct upm_area *area;
    int err =
        upm_area_new(start, bytes, upm.host.nodes, upm.host.distance, &area);

    if (err)
        return refuse_area(err, start, bytes);
    if (upm.host.nodes > 1 && !upm.forked)
        err = upm_place_area(area, upm.options.place, upm.options.batch,
                             &upm.placed);
    upm_area_add(area);
    upm.stats.areas++;
    upm.stats.pages += area->table.pages;
    if (!err && upm.source && !(err = upm.source->watch(area)))
        upm.source->arm(area, 0, upm_wants_all() ? area->units : 0);
    if (err)
        upm_fail(err, "upmlib_memrefcnt(%p, %zu): errno %d", start, bytes,
                 -err);
    upm.iterative.off = false;
    if (!err)
        err = upm_count();
    if (err)
        upm_forget(area);
    return err;
}

int upmlib_memrefcnt(const void *start, size_t bytes)
{
    int err = enter("upmlib_memrefcnt");

    if (err)
        return err;
    if (upm.discovers) {
        /* The program says itself what is hot. */
        struct upm_area *found;

        upm_stop_look();
        while ((found = upm_area_next(0)))
            upm_forget(found);
        upm.discovers = false; /* last: threads that begin look at it */
    }
    if (bytes) {
        err = add_area(start, bytes);
    } else {
        struct upm_area *area = upm_area_at(start);

        if (area)
            upm_forget(area);
        else
            err = upm_fail(-EINVAL,
                           "upmlib_memrefcnt(%p, 0): no hot area begins there",
                           start);
        if (area)
            upm_count();
    }
    upm_unlock();
    return err;
}

/* The pages that are frozen now. */
static void count_frozen(void)
{
    size_t count;
    struct upm_table *const *tables = upm_tables(&count);

    upm.stats.frozen = 0;
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < tables[t]->pages; i++)
            upm.stats.frozen += tables[t]->page[i].frozen;
    }
}

/* Where all pages are. */
static int look_at_homes(void)
{
    struct upm_area *area;
    int err = 0;

    for (size_t i = 0; (area = upm_area_next(i)) && !err; i++)
        err = upm_area_homes(area, 0, area->table.pages);
    return err ? upm_fail(err,
                          "the kernel does not say where pages are "
                          "(move_pages: errno %d)",
                          -err)
               : 0;
}

static int migrate(void)
{
    struct upm_moves moves = {0};
    size_t count;
    int err, moved = 0;

    upm_stop_look();
    err = look_at_homes();
    struct upm_table *const *tables = upm_tables(&count);
    for (size_t i = 0; i < count && !err; i++)
        err =
            upm_iterate(&upm.iterative, tables[i], &upm.options.tuning, &moves);
    if (!err) {
        moved = upm_do(&moves, NULL);
        err = moved < 0 ? moved : 0;
    }
    upm_moves_free(&moves);
    for (size_t i = 0; i < count; i++)
        upm_area_clear(upm_area_of(tables[i]));
    if (err) {
        upm_arm();
        return err;
    }
    upm_iterated(&upm.iterative, (size_t)moved);
    upm.stats.iterations++;
    count_frozen();
    upm_count();
    upm_arm();
    return moved;
}

int upmlib_migrate_memory(void)
{
    int result = enter("upmlib_migrate_memory");

    if (result)
        return result;
    if (!upm_idle() && upm_area_next(0) && !upm.iterative.off) {
        bool counted = upm.source && upm_wants_all();

        upm.paused = false;
        result = counted ? migrate() : upm_count();
        if (!counted)
            upm_arm();
    }
    upm_unlock();
    return result;
}

/* The tables that engines see: none where nothing is done. */
static struct upm_table *const *tables_if_any(size_t *count)
{
    struct upm_table *const *tables = upm_tables(count);

    if (upm_idle())
        *count = 0;
    return tables;
}

static int record(void)
{
    struct upm_table *const *tables;
    size_t count;
    int err = 0;

    if (!upm.recording) {
        upm_replay_clear(&upm.replay);
        upm.recording = true;
        err = upm_count();
        if (err)
            upm.recording = false; /* the next call tries again */
    }
    if (!err && !upm_idle()) {
        upm_stop_look();
        err = look_at_homes();
    }
    tables = tables_if_any(&count);
    if (!err)
        err = upm_record(&upm.replay, tables, count, &upm.options.tuning);
    if (err == -ENOSPC)
        upm_fail(err, "upmlib_record: there are %d phases already, the most",
                 UPM_PHASES_MAX);
    else if (err == -ENOMEM)
        upm_fail(err, "upmlib_record: no memory for another set of counters");
    upm_arm();
    return err;
}

int upmlib_record(void)
{
    int err = enter("upmlib_record");

    if (err)
        return err;
    err = record();
    upm_unlock();
    return err;
}

static int replay(const struct upm_moves *recorded)
{
    struct upm_moves moves = {0};
    int result = 0;

    for (size_t i = 0; i < recorded->count && !result; i++)
        result = upm_moves_add(&moves, recorded->at[i]);
    upm_stop_look(); /* of a page that is armed the kernel says nothing */
    if (!result)
        result = upm_do(&moves, upm_replay_note);
    upm_arm();
    upm_moves_free(&moves);
    if (result > 0)
        upm.stats.replayed += (uint64_t)result;
    return result;
}

int upmlib_replay(void)
{
    int result = enter("upmlib_replay");

    if (result)
        return result;
    const struct upm_moves *recorded = upm_replay_next(&upm.replay);
    if (recorded) {
        upm.replayed = true;
        upm.recording = false;
        upm.paused = true;
        upm_count();
        result = upm_idle() ? 0 : replay(recorded);
    } else {
        result = upm_fail(-ENODATA, "upmlib_replay: no phase is recorded; call "
                                    "upmlib_record() before and after it in "
                                    "the first iteration");
    }
    upm_unlock();
    return result;
}

/* Pages that the kernel did not let go back are tried again by the next. */
static int undo(void)
{
    struct upm_moves moves = {0};
    int result = upm_undo_moves(&upm.replay, &moves);

    upm_stop_look();
    if (!result)
        result = upm_do(&moves, NULL);
    upm_arm();
    if (result >= 0)
        upm_undone(&upm.replay);
    upm_moves_free(&moves);
    if (result > 0)
        upm.stats.undone += (uint64_t)result;
    return result;
}

int upmlib_undo(void)
{
    int result = enter("upmlib_undo");

    if (result)
        return result;
    if (upm.replayed) {
        result = upm_idle() ? 0 : undo();
        upm.replayed = result < 0;
    } else {
        result = upm_fail(-ENODATA, "upmlib_undo: nothing was replayed since "
                                    "the last upmlib_undo()");
    }
    upm_unlock();
    return result;
}
