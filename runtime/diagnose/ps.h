/*
 * ps.h - drasync-ps: the nodes of this host, read from their control memory by a
 * process that is none of theirs.
 *
 * The memory is mapped for reading, where its ranks have it, one node at a time;
 * nobody is stopped, no lock is taken, and a job that hangs can be looked at as
 * well as one that runs.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_PS_H
#define DRASYNC_RUNTIME_DIAGNOSE_PS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/diagnose/facts.h"
#include "runtime/diagnose/text.h"

/* The program; its status. */
int drasync_ps(int argc, char **argv);

/* --- Finding (ps_find.c) -------------------------------------------------- */

/* A node of this host, by the file of its control memory. */
struct ps_node {
    dev_t device;
    ino_t inode;
    int fd; /* of that file */
    uint64_t address, bytes;
};

struct ps_nodes {
    struct ps_node *list; /* free() it after closing each fd */
    size_t count, room;
    size_t refused; /* processes that may not be looked at */
};

/* Those of process @pid and what it started, or with @pid 0 of all processes.  0
 * or DRASYNC_ENOMEM. */
int ps_find(int pid, struct ps_nodes *nodes);

/* Map it, so that facts.h is about it.  0, DRASYNC_EINVAL (not ready, or of
 * another version), DRASYNC_EADDRESS.  And undo that. */
int ps_open(const struct ps_node *node);
void ps_close(const struct ps_node *node);

/* --- What is printed of a node -------------------------------------------- */

struct ps_view {
    struct native_look *regions; /* the largest first */
    size_t count, room;
    size_t lines_max; /* of a list */
};

/* The hold by @rank, -1 if there is none, of the @i-th kind: 0 for WRITE, others
 * the READ holds. */
int32_t ps_holder(const struct native_look *region, uint32_t i);

/* The name, or "". */
void ps_name(uint64_t address, char name[DRASYNC_NAME_MAX + 1]);

const char *ps_state(uint32_t state);

/* Of a path; a longer one is cut. */
#define PS_PROGRAM_BYTES 256

/* Which program the node's ranks run: several jobs may be on a host.  False: the
 * rank has ended, or is another user's. */
bool ps_program(char program[PS_PROGRAM_BYTES]);

/* What drasync-ps prints of the node that facts.h is about, with at most
 * @lines_max lines of each list. */
void ps_add_node(struct text *text, size_t lines_max);

/* ps_json.c */
void ps_json_node(struct text *text, const struct ps_view *view);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_PS_H */
