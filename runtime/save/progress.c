/* A line on a terminal: see progress.h. */
#include "runtime/save/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/process.h"

/* When the line comes, and how often. */
#define FIRST_US 2000000
#define NEXT_US  200000

#define COLUMNS     80
#define COLUMNS_MAX 256

/* To the left edge, and erase what is right of it. */
#define ERASE "\r\033[K"

static void write_text(const struct progress *p, const char *text)
{
    /* What a terminal does not take is not missed. */
    if (write(p->fd, text, strlen(text)) < 0)
        return;
}

/* Less than a line, so that it is not wrapped. */
static size_t columns_of(int fd)
{
    struct winsize size;
    size_t columns = COLUMNS;

    if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col > 1)
        columns = size.ws_col;
    return (columns < COLUMNS_MAX ? columns : COLUMNS_MAX) - 1;
}

static uint64_t mib(uint64_t bytes)
{
    return bytes >> 20;
}

void progress_begin(struct progress *p, int fd, const char *path,
                    uint64_t bytes, uint64_t now_us)
{
    *p = (struct progress){
        .fd = isatty(fd) ? fd : -1,
        .path = path,
        .bytes = bytes,
        .begun_us = now_us,
    };
}

void progress_show(struct progress *p, uint64_t done, uint64_t now_us)
{
    char text[COLUMNS_MAX + 16], line[COLUMNS_MAX];
    uint64_t spent_us = now_us - p->begun_us;

    if (p->fd < 0 || spent_us < FIRST_US ||
        (p->shown && now_us - p->shown_us < NEXT_US && done < p->bytes))
        return;
    if (done < p->bytes)
        snprintf(line, sizeof(line),
                 "drasync: rank %d saves: %" PRIu64 "%% of %" PRIu64
                 " MiB, %" PRIu64 " MiB/s, to %s",
                 runtime.rank,
                 (uint64_t)((double)done * 100 / (double)p->bytes),
                 mib(p->bytes), mib(done) * 1000000 / spent_us, p->path);
    else
        snprintf(line, sizeof(line),
                 "drasync: rank %d saves: %" PRIu64
                 " MiB, until they are on the disk, to %s",
                 runtime.rank, mib(p->bytes), p->path);
    snprintf(text, sizeof(text), ERASE "%.*s", (int)columns_of(p->fd), line);
    write_text(p, text);
    p->shown = true;
    p->shown_us = now_us;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        write_text(p, ERASE);
    p->shown = false;
}
