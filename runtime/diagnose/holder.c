/* Who has a region: see holder.h. */
#include "runtime/diagnose/holder.h"

#include "runtime/diagnose/ask.h"
#include "runtime/process.h"

int holder_of(drasync_region_t region)
{
    struct native_look look = {.hint = NATIVE_LOOK_ANY};
    struct facts_wait wait = {.seen = {.rank = runtime.rank}};
    struct facts_region found;

    wait.asked.at = (uint64_t)(uintptr_t)region;
    native_look(wait.asked.at, &look);
    wait.asked.here = look.owned;
    wait.asked.hint = look.hint;
    if (ask_about_wait(&wait, false, &found) ||
        found.status != FACTS_BLOCKED || found.blocker.asks ||
        found.blocker.mode != DRASYNC_WRITE ||
        found.blocker.rank >= runtime.ranks)
        return -1;
    return found.blocker.rank;
}
