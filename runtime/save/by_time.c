/*
 * DRASYNC_SAVE=DIR,SECONDS: root regions that have names are saved by themselves.
 *
 * A thread of the first rank does it, on the node that knows all names.  It holds
 * what it saves as a rank of its own, so that the program's ranks notice nothing
 * but that writers get frames of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/modules.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/save/files.h"
#include "runtime/say.h"
#include "runtime/services/names.h"
#include "runtime/thread.h"
#include "runtime/wait.h"

#define SECONDS_MAX 1000000

/* A name with each byte as three, and what comes behind it. */
#define FILE_NAME_BYTES (3 * DRASYNC_NAME_MAX + 16)

/* So long a region that is held for WRITE is waited for, or as long as the time
 * between two saves, if that is longer. */
#define PATIENCE_S 10

static struct {
    pthread_t thread;
    uint64_t patient_until_us; /* the thread's */
    bool running, stop;        /* under the mutex */
    char *folder;
    long seconds;
} saver;

static pthread_mutex_t saver_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t saver_stops;

/* The file for @name: bytes that a path could misunderstand are %XX. */
static void file_name(const char *name, char to[FILE_NAME_BYTES])
{
    size_t n = 0;

    for (size_t i = 0; name[i] && i < DRASYNC_NAME_MAX; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c < 0x20 || c == 0x7f || c == '/' || c == '%' || (c == '.' && !i))
            n += (size_t)snprintf(to + n, FILE_NAME_BYTES - n, "%%%02X", c);
        else
            to[n++] = (char)c;
    }
    snprintf(to + n, FILE_NAME_BYTES - n, ".saved");
}

static bool is_stopping(void)
{
    bool stop;

    pthread_mutex_lock(&saver_mutex);
    stop = saver.stop;
    pthread_mutex_unlock(&saver_mutex);
    return stop || !runtime_running() || runtime_enter();
}

/* Is the region not to be waited for any longer? */
static bool is_enough(void)
{
    return is_stopping() || runtime_now_us() > saver.patient_until_us;
}

/* Is it for the user to know that saving ended with @err?  A line was said of
 * the file; a region that is gone, or another by now, needs no saving. */
static bool is_news(int err)
{
    return err && err != DRASYNC_EFILE && err != DRASYNC_EINVAL &&
           err != DRASYNC_ENOREGION && err != DRASYNC_EDELETED;
}

/* A region that is below another goes with its root. */
static int save_named(const struct names_listed *named)
{
    drasync_region_t region =
        (drasync_region_t)(uintptr_t)named->region.address;
    size_t bytes = strlen(saver.folder) + FILE_NAME_BYTES + 1;
    char name[FILE_NAME_BYTES], *path = malloc(bytes);
    long patience_s = saver.seconds > PATIENCE_S ? saver.seconds : PATIENCE_S;
    struct native_identity identity;
    int err = 0;

    if (!path)
        return DRASYNC_ENOMEM;
    saver.patient_until_us = wait_deadline_us((uint64_t)patience_s * 1000000);
    file_name(named->name, name);
    snprintf(path, bytes, "%s/%s", saver.folder, name);
    if (native_identify(region, &identity) || identity.root)
        err = files_save_root(&named->region, path, is_enough);
    free(path);
    return err;
}

static void save_all(void)
{
    struct names_listed *listed;
    size_t count;
    int err = names_all(&listed, &count);

    if (err && is_stopping())
        return;
    if (err) {
        runtime_say("DRASYNC_SAVE: nothing is saved this time: %s",
                    drasync_strerror(err));
        return;
    }
    for (size_t i = 0; i < count && !is_stopping(); i++) {
        err = save_named(&listed[i]);
        if (is_news(err) && !is_stopping())
            runtime_say("DRASYNC_SAVE: the region named %s is not saved this "
                        "time: %s",
                        listed[i].name,
                        err == DRASYNC_EAGAIN
                            ? "ranks held parts of it for WRITE too long"
                            : drasync_strerror(err));
    }
    free(listed);
}

/* Wait for the next time; false: there is none. */
static bool wait_for_time(struct timespec *next)
{
    bool stop;

    next->tv_sec += saver.seconds;
    pthread_mutex_lock(&saver_mutex);
    while (!saver.stop &&
           !pthread_cond_timedwait(&saver_stops, &saver_mutex, next))
        ;
    stop = saver.stop;
    pthread_mutex_unlock(&saver_mutex);
    return !stop;
}

static void *save_by_time(void *arg)
{
    struct timespec next;

    thread_is_ours();
    pthread_setname_np(pthread_self(), "drasync-saves");
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (wait_for_time(&next)) {
        if (!is_stopping())
            save_all();
        /* Nothing is made up for that took longer. */
        clock_gettime(CLOCK_MONOTONIC, &next);
    }
    return arg;
}

/* DIR,SECONDS: the last comma counts.  False: it is not that. */
static bool parse(const char *text)
{
    const char *comma = strrchr(text, ',');
    char *end;

    if (!comma || comma == text || comma[1] < '1' || comma[1] > '9')
        return false;
    saver.seconds = strtol(comma + 1, &end, 10);
    saver.folder = strndup(text, (size_t)(comma - text));
    return !*end && saver.seconds <= SECONDS_MAX && saver.folder;
}

static int thread_start(void)
{
    pthread_condattr_t attributes;
    int err;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&saver_stops, &attributes);
    pthread_condattr_destroy(&attributes);
    saver.stop = false;
    err = thread_create(&saver.thread, save_by_time, NULL);
    saver.running = !err;
    return err ? DRASYNC_ENOMEM : 0;
}

/* A folder that is not there is said now, and not after so many seconds. */
static void look_at_folder(void)
{
    struct stat st;
    int err = 0;

    if (stat(saver.folder, &st) || access(saver.folder, W_OK | X_OK))
        err = errno;
    else if (!S_ISDIR(st.st_mode))
        err = ENOTDIR;
    if (err)
        runtime_say("DRASYNC_SAVE: %s: %s; until that is mended, nothing is "
                    "saved there",
                    saver.folder, strerror(err));
}

static int save_start(void)
{
    const char *text = getenv("DRASYNC_SAVE");

    if (!text || !*text)
        return 0;
    if (!parse(text)) {
        runtime_say("DRASYNC_SAVE=%.100s is not valid: it may be a folder, a "
                    "comma, and a number of seconds from 1 to %d",
                    text, SECONDS_MAX);
        return DRASYNC_ESTART;
    }
    if (runtime.rank != 0)
        return 0;
    look_at_folder();
    return thread_start();
}

static void save_quiesce(void)
{
    if (!saver.running)
        return;
    pthread_mutex_lock(&saver_mutex);
    saver.stop = true;
    pthread_cond_signal(&saver_stops);
    pthread_mutex_unlock(&saver_mutex);
    pthread_join(saver.thread, NULL);
    saver.running = false;
}

const struct runtime_module save_module = {
    .name = "save",
    .start = save_start,
    .quiesce = save_quiesce,
};
