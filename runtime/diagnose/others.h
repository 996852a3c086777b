/*
 * others.h - what the ranks of the job do that wait for nothing of ours: of a
 * wait for a newer version nobody else is in the way, but any of them may be who
 * is to write it.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_OTHERS_H
#define DRASYNC_RUNTIME_DIAGNOSE_OTHERS_H

#include "runtime/diagnose/text.h"

/* Lines that say so, those that do the same in one.  As report_stall(). */
void others_add(struct text *text);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_OTHERS_H */
