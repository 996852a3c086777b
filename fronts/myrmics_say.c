/* Lines for a program's mistakes, with the file and line of its call. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "fronts/myrmics.h"
#include "include/myrmics.h"

/* Messages, timers, and the end of the job. */

#define LINE_BYTES 1024

/* Before the start we are told our number by whoever started us, if at all. */
static int core(void)
{
    const char *rank = getenv("PMI_RANK");

    if (replica_rank() >= 0)
        return replica_rank();
    return rank ? atoi(rank) : 0;
}

/* In one write, so that lines of several ranks do not mix. */
static void say(const char *kind, const char *file, int line,
                const char *format, va_list args)
{
    char text[LINE_BYTES];
    int head, body, tail;
    size_t length;

    fflush(stdout);
    head = snprintf(text, sizeof(text), "Core %d: %s: ", core(), kind);
    body = vsnprintf(text + head, sizeof(text) - (size_t)head, format, args);
    length = (size_t)head + (size_t)(body < 0 ? 0 : body);
    if (length > sizeof(text) - 256)
        length = sizeof(text) - 256;
    tail = snprintf(text + length, sizeof(text) - length, " [%.200s:%d]\n",
                    file, line);
    if (write(STDERR_FILENO, text, length + (size_t)tail) < 0)
        return; /* nobody to tell */
}

/*
 * The process manager throws away what it has not read when the job is aborted:
 * wait until it has, a second at most.
 */
static void wait_until_read(int fd)
{
    struct timespec pause = {.tv_nsec = 1000000};
    int waiting = 0;

    for (int i = 0; i < 1000; i++) {
        if (ioctl(fd, FIONREAD, &waiting) || waiting == 0)
            return;
        nanosleep(&pause, NULL);
    }
}

static void stop(void) __attribute__((noreturn));

static void stop(void)
{
    wait_until_read(STDERR_FILENO);
    wait_until_read(STDOUT_FILENO);
    replica_end_job();
}

void myrmics_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("Error", file, line, format, args);
    va_end(args);
    stop();
}

#undef sys_warning
#undef sys_error

static char unknown[] = "unknown";

void _sys_warning(char *file, int line, char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("Warning", file, line, format, args);
    va_end(args);
}

void sys_warning(char *format, ...) MYRMICS_PRINTF(1, 2);
void sys_warning(char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("Warning", unknown, 0, format, args);
    va_end(args);
}

void _sys_error(char *file, int line, char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("Error", file, line, format, args);
    va_end(args);
    stop();
}

void sys_error(char *format, ...) MYRMICS_PRINTF(1, 2) MYRMICS_NORETURN;
void sys_error(char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("Error", unknown, 0, format, args);
    va_end(args);
    stop();
}

void _sys_assert(char *file, int line, int condition, char *text)
{
    if (!condition)
        myrmics_fail(file, line, "Assertion failed: %s", text);
}

void _sys_abort(char *file, int line)
{
    myrmics_fail(file, line, "Aborted");
}

/* --- Timers: 10,000 ticks to a millisecond --- */

#define TICK_NS 100u

static uint64_t timer_since_ns;

uint64_t myrmics_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void busy_wait(uint64_t ns)
{
    uint64_t since_ns = myrmics_now_ns();

    while (myrmics_now_ns() - since_ns < ns)
        continue;
}

void ar_timer_reset(void)
{
    timer_since_ns = myrmics_now_ns();
}

unsigned int ar_timer_get_cycles(void)
{
    return (unsigned int)((myrmics_now_ns() - timer_since_ns) / TICK_NS);
}

unsigned int ar_timer_get_msec(void)
{
    return (unsigned int)((myrmics_now_ns() - timer_since_ns) / 1000000u);
}

void ar_timer_busy_wait_cycles(unsigned int cycles)
{
    busy_wait((uint64_t)cycles * TICK_NS);
}

void ar_timer_busy_wait_msec(unsigned int msec)
{
    busy_wait((uint64_t)msec * 1000000u);
}

unsigned int ar_free_timer_get_ticks(void)
{
    return (unsigned int)(myrmics_now_ns() / TICK_NS);
}

unsigned int ar_free_timer_get_cycles(void)
{
    return ar_free_timer_get_ticks();
}
