/* shrink.c - a script that fails is made short: commands are taken out, in
 * ever smaller runs, as long as something is still found. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static bool still_fails(const struct sim_script *script, uint32_t from,
                        uint32_t count, char *finding)
{
    struct sim_script less = *script;
    char found[256];
    less.command = malloc((script->count + 1) * sizeof(*less.command));
    less.count = script->count - count;
    memcpy(less.command, script->command, from * sizeof(*less.command));
    memcpy(less.command + from, script->command + from + count,
           (less.count - from) * sizeof(*less.command));
    bool fails = !sim_run(&less, NULL, found, NULL);
    free(less.command);
    /* Another kind of finding is another story. */
    fails = fails && strncmp(finding, found, strcspn(finding, " :")) == 0;
    if (fails)
        memcpy(finding, found, sizeof(found));
    return fails;
}

void sim_shrink(struct sim_script *script, char *finding)
{
    uint32_t size = script->count / 2;
    bool smaller = true;
    while (size > 0) {
        smaller = false;
        for (uint32_t from = 0; from + size <= script->count;) {
            if (!still_fails(script, from, size, finding)) {
                from += size;
                continue;
            }
            memmove(script->command + from, script->command + from + size,
                    (script->count - from - size) * sizeof(*script->command));
            script->count -= size;
            smaller = true;
        }
        if (size == 1 && !smaller)
            return;
        if (size > 1)
            size /= 2;
    }
}
