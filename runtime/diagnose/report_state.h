/*
 * report_state.h - the lines of a report on who keeps a wait from its end: who
 * holds, sends, publishes or answers, and what that rank does; and on the ranks
 * that wait for nothing of ours: of a wait for a newer version nobody else is in
 * the way, but any of them may be who is to write it.  Other nodes are asked
 * (ask.h).
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_REPORT_STATE_H
#define DRASYNC_RUNTIME_DIAGNOSE_REPORT_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/diagnose/text.h"

/* Of @count waits for the same thing.  True: nobody is in the way, but somebody
 * else is to write. */
bool report_add_state(struct text *text, const struct facts_wait *waits,
                      size_t count);

/* " since 12 s, in solve (tree.c:12) ...": the oldest of @count waits at one
 * place. */
void report_add_since(struct text *text, const struct facts_wait *waits,
                      size_t count);

/* Who holds @region, or takes it, as seen by who waits. */
void report_add_blocker(struct text *text, const struct facts_wait *wait,
                        const struct facts_region *region);

/* What the others do, those that do the same in one line. */
void report_add_others(struct text *text);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_REPORT_STATE_H */
