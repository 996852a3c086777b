/* Lines on stderr, the poison, and the end of the job. */
#include "runtime/say.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "memory/control.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "transport/boot.h"

#define SAY_BYTES   704
#define SAY_READ_MS 1000

/* Room for the description of an internal error; 180 bytes are for the sentence
 * that runtime_broken() puts around it. */
#define BROKEN_BYTES (RUNTIME_POISON_BYTES - 180)

static void (*poison_tell)(void);

void runtime_poison_tells(void (*tell)(void))
{
    poison_tell = tell;
}

/* One write, so that lines of several ranks do not mix. */
static void say(const char *format, va_list args)
{
    char line[SAY_BYTES];
    int head, text;

    head = snprintf(line, sizeof(line), "drasync: rank %d (%s): ", runtime.rank,
                    runtime.host[0] ? runtime.host : "?");
    text =
        vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
    size_t length = (size_t)head + (size_t)(text < 0 ? 0 : text);
    if (length > sizeof(line) - 2)
        length = sizeof(line) - 2;
    line[length] = '\n';
    if (write(STDERR_FILENO, line, length + 1) < 0)
        return; /* nobody to tell */
}

void runtime_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

void runtime_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    runtime_end_job();
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    nanosleep(&pause, NULL);
}

/*
 * MPI_Abort makes the launcher drop what it has not yet read of our output: let
 * it read.  FIONREAD tells what is left in a pipe, from its writing end too.
 */
static void wait_until_read(void)
{
    int left = 0;

    for (int i = 0; i < SAY_READ_MS; i++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &left) || left == 0)
            return;
        nap();
    }
}

/* Acquire and release of `poison_said` order nothing but the line's write(),
 * which the kernel does; the default is only the simplest.  The exchange in
 * say_first() chooses the rank that prints. */
bool runtime_await_said(uint32_t ms)
{
    struct runtime_shared *shared = runtime.shared;

    while (atomic_load(&shared->poison_said) != 2 && ms-- > 0)
        nap();
    return atomic_load(&shared->poison_said) == 2;
}

void runtime_told(void)
{
    atomic_store(&runtime.shared->poison_said, 2);
}

void runtime_end_job(void)
{
    /* Relaxed would do: a child of fork stored it before it had other
     * threads. */
    const bool child = atomic_load(&runtime.state) == RUNTIME_CHILD;

    /* The caller has printed why the job ends; ranks that see this process end
     * need not report it again. */
    if (runtime.shared && !child)
        runtime_told();
    wait_until_read();
    /* A child of fork has its parent's connections, and its threads' locks. */
    if (child)
        _exit(1);
    boot_abort(1);
}

/*
 * Say why the job ends, one rank of a node, before calls that fail for it let
 * the program end.  False: the node is poisoned already.
 */
__attribute__((format(printf, 1, 2))) static bool say_first(const char *format,
                                                            ...)
{
    struct runtime_shared *shared = runtime.shared;
    uint32_t none = 0;
    va_list args;

    if (atomic_load(&shared->poison_state))
        return false;
    if (atomic_compare_exchange_strong(&shared->poison_said, &none, 1)) {
        va_start(args, format);
        say(format, args);
        va_end(args);
        wait_until_read();
        atomic_store(&shared->poison_said, 2);
    }
    return true;
}

/*
 * Put the reason where all ranks of the node find it.  False: another call was
 * first.
 *
 * The exchange chooses the call that writes the text.  The store of 2 (release)
 * pairs with the loads of 2 (acquire) in runtime_poison_text() and poisoned()
 * of progress_thread.c: the text is whole.  The flag and the doorbells come
 * after it, so a thread that a doorbell wakes finds the text.
 */
static bool poison_node(const char *text, size_t bytes)
{
    struct runtime_shared *shared = runtime.shared;
    uint32_t none = 0;

    if (!atomic_compare_exchange_strong(&shared->poison_state, &none, 1))
        return false;
    if (bytes > sizeof(shared->poison_text) - 1)
        bytes = sizeof(shared->poison_text) - 1;
    memcpy(shared->poison_text, text, bytes);
    shared->poison_text[bytes] = 0;
    atomic_store(&shared->poison_state, 2);
    control_poison(&runtime.space);
    for (uint32_t i = 0; i < shared->locals; i++)
        doorbell_ring(&shared->ranks[i].doorbell);
    doorbell_ring(&shared->stop_doorbell);
    return true;
}

static void poison(const char *text)
{
    if (!runtime.shared) {
        runtime_say("%s", text);
        return;
    }
    if (!say_first("%s", text))
        return;
    if (poison_node(text, strlen(text)) && poison_tell)
        poison_tell();
}

void runtime_poison(const char *format, ...)
{
    char text[RUNTIME_POISON_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    poison(text);
}

void runtime_broken(const char *format, ...)
{
    char what[BROKEN_BYTES], text[RUNTIME_POISON_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    snprintf(
        text, sizeof(text),
        "internal error, please report: %s [DRASync %s; with this line, "
        "the command, the DRASYNC_* variables, the output of mpichversion, "
        "and how often it happens]",
        what, drasync_version());
    poison(text);
}

void runtime_poisoned_by(int node, const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes);

    if (say_first("%.*s (says node %d)", (int)length, text, node))
        poison_node(text, length);
}

const char *runtime_poison_text(void)
{
    if (!runtime.shared || atomic_load(&runtime.shared->poison_state) != 2)
        return "";
    return runtime.shared->poison_text;
}
