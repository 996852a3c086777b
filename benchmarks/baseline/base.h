/*
 * base.h - what all parts of the baseline share: who this process is, waiting,
 * errors, messages that are kept until they are sent.
 *
 * The library starts at the first sys_*() or pr_*() call of a process, through
 * bl_enter().  A process whose rank is a scheduler's does not come back from
 * there.  All state is guarded by one lock, held from bl_enter() to bl_leave();
 * waiting for something that another thread of this process may have to do
 * first lets go of it meanwhile (bl_pause_unlocked()).
 */
#ifndef BASELINE_BASE_H
#define BASELINE_BASE_H

#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "copies.h"
#include "heap.h"
#include "wire.h"

/* The tree of schedulers: each has up to this many below it. */
#define BL_FANOUT 8

struct bl_parcel {
    unsigned char *bytes;
    uint64_t size;
    unsigned pieces;
};

struct bl_sending {
    MPI_Request request;
    struct bl_parcel *parcel;
};

/* Messages under way, whose bytes are kept here until they are sent. */
struct bl_outbox {
    struct bl_sending *sendings;
    size_t count, room, next;
    unsigned char *spare; /* a large buffer, for the next large message */
    uint64_t spare_bytes;
};

struct bl_stats {
    double sched_seconds, worker_seconds, barrier_seconds;
    unsigned sched_calls;
    unsigned long bytes_sent, bytes_received;
};

struct bl_state {
    MPI_Comm comm;         /* all ranks; ours alone */
    MPI_Comm workers_comm; /* MPI_COMM_NULL on a scheduler */
    int rank, ranks, workers, schedulers;
    int crowded; /* more ranks than processors on this node */
    unsigned char *base;
    uint32_t pages;
    struct bl_copies copies;
    struct bl_outbox outbox;
    struct bl_stats stats;
};

extern struct bl_state bl;

/* Start if need be, and take the lock. */
void bl_enter(void);

/* The same for a call that needs MPI; @file and @line name it. */
void bl_enter_call(const char *file, int line);
void bl_leave(void);

/* Does the library run in this process? */
int bl_running(void);

/* --- Waiting ------------------------------------------------------------- */

/* Polls in vain since the last success; starts at 0. */
struct bl_wait {
    unsigned polls;
};

/* After a poll in vain: yield the processor, later sleep a little. */
void bl_pause(struct bl_wait *wait);
void bl_pause_unlocked(struct bl_wait *wait);

double bl_now_seconds(void);

/* --- Errors -------------------------------------------------------------- */

/* Print "Core N: Error: TEXT [FILE:LINE]" and end the job. */
void bl_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Its parts: the line, with another word for "Error"; the end of the job. */
void bl_say(const char *kind, const char *file, int line, const char *format,
            va_list args) __attribute__((format(printf, 4, 0)));
void bl_stop(void) __attribute__((noreturn));

/* The number after "Core", before or after the start. */
int bl_core(void);

/* --- Messages ------------------------------------------------------------ */

/* A buffer for a message. */
unsigned char *bl_outbox_buffer(struct bl_outbox *outbox, uint64_t size);

/*
 * Send such a buffer, which belongs to the outbox from now on.  The first
 * @first bytes go as one message, the rest in pieces.
 */
void bl_outbox_send(struct bl_outbox *outbox, unsigned char *bytes,
                    uint64_t first, uint64_t size, int rank, enum bl_tag tag);

/* Look after at most @count of the messages under way. */
void bl_outbox_reap(struct bl_outbox *outbox, size_t count);

/* The rank of the scheduler that owns @page. */
int bl_owner_of_page(uint64_t page);

/* The pages of scheduler @index. */
void bl_pages_of(int index, uint32_t *first_out, uint32_t *count_out);

/* --- Records (recording.c, docs/records.md) ------------------------------ */

void bl_record_open(void);
void bl_record_close(void);

/* A scheduler's time, 0 if nothing is recorded; and the end of a request that
 * it looked for at @since_ns. */
uint64_t bl_record_clock(void);
void bl_record_served(uint32_t op, uint64_t since_ns);

/* --- Parts --------------------------------------------------------------- */

/* Serve until all workers have said goodbye (scheduler.c). */
void bl_scheduler_serve(void);

/* What a worker does with regions' data (exchange.c). */
void bl_exchange_send(const char *file, int line, uint32_t region, int worker);
uint32_t bl_exchange_recv(const char *file, int line, uint32_t region,
                          int worker);

/* Throw away one message of data that nobody will receive, if there is one. */
int bl_exchange_discard(void);

/* --- Asking a scheduler (start.c) ---------------------------------------- */

#define BL_INLINE_BYTES 4096

/* The answer to the last bl_ask(); overwritten by the next. */
struct bl_answer {
    struct bl_reply reply;
    const unsigned char *body;
    size_t body_bytes;
};

const struct bl_answer *bl_ask(int scheduler_rank, struct bl_request *request);

#endif /* BASELINE_BASE_H */
