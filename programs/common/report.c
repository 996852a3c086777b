/* Numbers, hashes, time and progress lines: see report.h. */
#include "config.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Between two progress lines. */
#define TERMINAL_SECONDS 0.1
#define PIPE_SECONDS     1.0

int report_parse_u64(const char *text, uint64_t min, uint64_t max,
                     uint64_t *value_out)
{
    unsigned long long value;
    char *end;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || *end != '\0' || value < min || value > max)
        return -1;
    *value_out = value;
    return 0;
}

int report_parse_double(const char *text, double min, double max,
                        double *value_out)
{
    double value;
    char *end;

    if (*text == '\0' || strspn(text, "+-.0123456789eE") != strlen(text))
        return -1;
    value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value) || value < min || value > max)
        return -1;
    *value_out = value;
    return 0;
}

int report_is_first_process(void)
{
    const char *rank = getenv("PMI_RANK");

    return !rank || strcmp(rank, "0") == 0;
}

int report_help(const char *name, const char *usage)
{
    if (!report_is_first_process())
        return 0;
    if (usage)
        printf(usage, name, name);
    else
        printf("%s %s\n", name, PACKAGE_VERSION);
    return 0;
}

int report_usage_error(const char *name, const char *what, const char *value)
{
    if (report_is_first_process())
        fprintf(stderr, "%s: %s%s (see --help)\n", name, what, value);
    return 2;
}

double report_now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *check_memory(void *ptr, size_t size_bytes)
{
    if (!ptr) {
        fprintf(stderr, "out of memory: %zu bytes asked for\n", size_bytes);
        abort();
    }
    return ptr;
}

void *report_malloc(size_t size_bytes)
{
    return check_memory(malloc(size_bytes ? size_bytes : 1), size_bytes);
}

void *report_realloc(void *ptr, size_t size_bytes)
{
    return check_memory(realloc(ptr, size_bytes ? size_bytes : 1), size_bytes);
}

static int progress_always; /* on a pipe too */
static int progress_shown;  /* on a terminal, and still there */

void report_progress_always(void)
{
    progress_always = 1;
}

void report_progress(const char *name, const char *what, uint64_t done,
                     uint64_t total)
{
    static int terminal = -1;
    static double last;
    double now = report_now_seconds(), percent = 100.0;

    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal && !progress_always)
        return;
    if (now - last < (terminal ? TERMINAL_SECONDS : PIPE_SECONDS))
        return;
    last = now;
    if (total)
        percent *= (double)done / (double)total;
    fprintf(stderr, terminal ? "\r%s: %s %.0f%%\033[K" : "%s: %s %.0f%%\n",
            name, what, percent);
    fflush(stderr);
    progress_shown = terminal;
}

void report_progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = 0;
}
