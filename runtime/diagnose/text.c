/* The words of reports: see text.h. */
#include "runtime/diagnose/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drasync.h"
#include "runtime/process.h"
#include "runtime/shared.h"

void text_add(struct text *text, const char *format, ...)
{
    char *grown;
    va_list args;
    int more;

    for (;;) {
        size_t left = text->room - text->length;

        va_start(args, format);
        more = vsnprintf(text->bytes ? text->bytes + text->length : NULL, left,
                         format, args);
        va_end(args);
        if (more < 0)
            return;
        if ((size_t)more < left) {
            text->length += (size_t)more;
            return;
        }
        text->cut |=
            !text->endless && text->length + (size_t)more >= TEXT_BYTES_MAX;
        if (text->cut)
            return;
        grown = realloc(text->bytes, 2 * text->room + (size_t)more + 1);
        if (!grown) {
            text->cut = true;
            return;
        }
        text->bytes = grown;
        text->room = 2 * text->room + (size_t)more + 1;
    }
}

void text_say(const struct text *text)
{
    size_t at = 0;

    while (at < text->length) {
        ssize_t n = write(STDERR_FILENO, text->bytes + at, text->length - at);

        if (n <= 0)
            return; /* nobody to tell */
        at += (size_t)n;
    }
}

void text_who(struct text *text, int32_t rank, uint32_t mode)
{
    const int32_t ranks = runtime.shared->ranks_of_job;

    if (rank < ranks)
        text_add(text, "rank %d", (int)rank);
    else if (mode == DRASYNC_WRITE)
        text_add(text, "a function of drasync_run");
    else
        text_add(text, "drasync_save of rank %d", (int)(rank % ranks));
}

const char *text_mode(uint32_t mode)
{
    return mode == DRASYNC_READ ? "READ" : "WRITE";
}

void text_region(struct text *text, uint64_t address, const char *name)
{
    text_add(text, "region 0x%" PRIx64, address);
    if (name[0])
        text_add(text, " \"%s\"", name);
}

void text_ranks(struct text *text, const int32_t *first, size_t stride,
                size_t count)
{
#define RANK(i) (*(const int32_t *)((const char *)first + (i)*stride))
    text_add(text, "ranks ");
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && RANK(next) - RANK(next - 1) <= 1;)
            next++;
        text_add(text, "%s%d", i ? ", " : "", (int)RANK(i));
        if (RANK(next - 1) != RANK(i))
            text_add(text, "-%d", (int)RANK(next - 1));
    }
    text_add(text, " (%zu of them)", count);
#undef RANK
}

void text_frames(struct text *text, const struct code_place *frames, int count)
{
    char place[PLACE_TEXT_BYTES];
    bool outermost = false, any = false;

    for (int i = 0; i < count && !outermost &&
                    place_text(&frames[i], place, sizeof(place))[0];
         i++) {
        /* The program's line is behind what our C++ header has. */
        if (!any && i < count - 1 && !strncmp(place, "drasync::", 9))
            continue;
        /* Where the C library began a thread, or the program. */
        if (any && place_is_c_library(&frames[i]))
            break;
        text_add(text, "%s %s", any ? ", called from" : ", in", place);
        any = true;
        outermost = !strncmp(place, "main", 4) && !isalnum(place[4]);
    }
}

static unsigned long seconds(uint64_t age_us)
{
    return (unsigned long)(age_us / 1000000);
}

void text_hold(struct text *text, uint64_t age_us,
               const struct code_place *place)
{
    char where[PLACE_TEXT_BYTES];

    if (age_us == UINT64_MAX) {
        text_add(text, ", since when is not noted (DRASYNC_CHECK=1 notes it)");
        return;
    }
    text_add(text, " since %lu s", seconds(age_us));
    if (place_text(place, where, sizeof(where))[0])
        text_add(text, ", taken in %s", where);
}

void text_wait(struct text *text, const struct waiting_seen *seen,
               const char *name, bool several)
{
    text_add(text, several ? "wait " : "waits ");
    switch (seen->what) {
    case WAITING_REGION:
        text_add(text, "for %s of ", text_mode(seen->mode));
        text_region(text, seen->address, name);
        break;
    case WAITING_NEWER:
        text_add(text, "for a version newer than %" PRIu64 ", for %s, of ",
                 seen->version, text_mode(seen->mode));
        text_region(text, seen->address, name);
        break;
    case WAITING_VERSION:
        text_add(text, "in sys_recv for what rank %d sends", (int)seen->peer);
        break;
    case WAITING_GIFT:
        text_add(text, "in drasync_take for what ");
        if (seen->peer == WAITING_NOBODY)
            text_add(text, "any rank gives");
        else
            text_add(text, "rank %d gives", (int)seen->peer);
        if ((int)seen->mode != DRASYNC_ANY)
            text_add(text, " with tag %d", (int)seen->mode);
        break;
    case WAITING_BARRIER:
        text_add(text, "in sys_barrier");
        break;
    case WAITING_NAME:
        text_add(text, "in drasync_lookup for the name \"%s\"", seen->name);
        break;
    case WAITING_RUN:
        if (seen->mode)
            text_add(text, "in drasync_run, for %s, on ",
                     text_mode(seen->mode));
        else
            text_add(text, "for functions that it ran, on ");
        text_region(text, seen->address, name);
        break;
    case WAITING_ANY:
        text_add(text, "in drasync_wait_any for one of %u requests, the first ",
                 (unsigned)seen->requests);
        if (waiting_newer(seen))
            text_add(text, "for a version newer than %" PRIu64 ", ",
                     seen->version);
        text_add(text, "for %s of ", text_mode(seen->mode));
        text_region(text, seen->address, name);
        break;
    case WAITING_CALL:
        text_add(text, "in %s", seen->name);
        if (seen->address) {
            text_add(text, " of ");
            text_region(text, seen->address, name);
        }
        if (seen->peer != WAITING_NOBODY)
            text_add(text, " for rank %d to answer", (int)seen->peer);
        break;
    default:
        text_add(text, "for something");
    }
}

static void text_mpi(struct text *text, const struct facts_rank *rank)
{
    bool sends = rank->mpi_call == WAITING_MPI_Send ||
                 rank->mpi_call == WAITING_MPI_Ssend;

    text_add(text, "is inside %s", waiting_mpi_name(rank->mpi_call));
    if (rank->mpi_peer >= 0)
        text_add(text, " %s rank %d", sends ? "to" : "from",
                 (int)rank->mpi_peer);
}

void text_doing(struct text *text, const struct facts_rank *rank)
{
    if (rank->rank < 0)
        text_add(text, "is not known here");
    else if (rank->waits)
        text_wait(text, &rank->wait.seen, "", false);
    else if (rank->mpi_call)
        text_mpi(text, rank);
    else if (rank->state == RUNTIME_RANK_QUIESCED ||
             rank->state == RUNTIME_RANK_STOPPED)
        text_add(text, "is in MPI_Finalize");
    else if (rank->state == RUNTIME_RANK_EXITED)
        text_add(text, "has left without MPI_Finalize");
    else if (rank->state == RUNTIME_RANK_BURIED)
        text_add(text, "has died");
    else
        text_add(text, "computes");
}
