/*
 * peer.h - another process of this host: does it live?
 *
 * It is known by its number and the time it started, since numbers are used
 * again; where the system gives one, a descriptor of it (pidfd) is held, so that
 * looking needs no new one.  A process counts as ended once the system says so;
 * that nothing can be found out (no descriptor left, no /proc) is no end.
 */
#ifndef DRASYNC_RUNTIME_PEER_H
#define DRASYNC_RUNTIME_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct process {
    uint64_t start_ticks; /* of /proc/PID/stat; 0: not known */
    int32_t pid;
    int32_t fd; /* a pidfd, or -1 */
    bool seen;  /* that the pidfd is of the process with this start */
};

/* When process @pid started, in ticks; 0 if that cannot be said. */
uint64_t process_start_ticks(int pid);

/*
 * Hold a descriptor of @process, whose number and start are filled in, if this
 * process has many to spare: all those held take at most a quarter of its
 * limit.  The first process_ended() sees whether the number had passed on.
 */
void process_hold(struct process *process);
void process_drop(struct process *process);

/*
 * Has it ended?  True as well for one that ended and whose parent has not asked
 * for it, but not as long as any of its threads runs.  One thread at a time for
 * each struct.
 */
bool process_ended(struct process *process);

/* Is it writing a core dump, with its other threads ended already?  Before Linux
 * 5.16 these leave what they have then; false on later ones. */
bool process_dumps_core(const struct process *process);

#endif /* DRASYNC_RUNTIME_PEER_H */
