/*
 * What another node's worker keeps of its last send (send_repeat.c) is kept
 * here too, where that was sent to one of several workers: for the others its
 * name is sent.
 *
 * The name may come, and the end as well, while the data is still on its way.
 */
#include <stdlib.h>

#include "runtime/process.h"
#include "runtime/replica/state.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"

struct kept {
    struct kept *next;
    struct replica_version *version; /* in no queue; has its frames too */
    struct replica_version *waiting; /* by `sibling`: ready with it */
    int forgotten;
};

static struct kept **all; /* by sending worker; few each */

/* Where it hangs; at the end NULL hangs. */
static struct kept **find(int worker, uint64_t serial)
{
    struct kept **at = &all[worker];

    while (*at && (*at)->version->serial != serial)
        at = &(*at)->next;
    return at;
}

static void end(struct kept **at)
{
    struct kept *kept = *at;

    *at = kept->next;
    replica_version_free(kept->version);
    free(kept);
}

int replica_kept_add(struct replica_version *version)
{
    struct kept *kept;
    int err = 0;

    if (!all)
        all = calloc((size_t)runtime.ranks, sizeof(struct kept *));
    if (!all)
        return DRASYNC_ENOMEM;
    if (!version->serial || *find(version->from, version->serial))
        return DRASYNC_EINTERNAL;
    kept = calloc(1, sizeof(*kept));
    if (!kept)
        return DRASYNC_ENOMEM;
    err = replica_version_share(version, &kept->version);
    if (err) {
        free(kept);
        return err;
    }
    atomic_store(&kept->version->ready, 0);
    kept->next = all[version->from];
    all[version->from] = kept;
    return 0;
}

int replica_kept_find(const struct replica_version *name,
                      struct replica_version **version_out)
{
    struct kept *kept = all ? *find(name->from, name->serial) : NULL;
    struct replica_version *version;
    int err;

    if (!kept || kept->forgotten)
        return DRASYNC_EINVAL;
    err = replica_version_share(kept->version, &version);
    if (err)
        return err;
    version->to = name->to;
    if (!atomic_load(&kept->version->ready)) {
        atomic_store(&version->ready, 0);
        version->sibling = kept->waiting;
        kept->waiting = version;
    }
    *version_out = version;
    return 0;
}

void replica_kept_arrived(int worker, uint64_t serial)
{
    struct kept **at = find(worker, serial), *kept = *at;

    if (!kept)
        return;
    atomic_store(&kept->version->ready, 1);
    while (kept->waiting) {
        struct replica_version *version = kept->waiting;

        kept->waiting = version->sibling;
        replica_version_ready(version);
    }
    if (kept->forgotten)
        end(at);
}

int replica_kept_forget(int worker, uint64_t serial)
{
    struct kept **at = all ? find(worker, serial) : NULL;

    if (!at || !*at || (*at)->forgotten)
        return DRASYNC_EINVAL;
    (*at)->forgotten = 1;
    if (atomic_load(&(*at)->version->ready))
        end(at);
    return 0;
}
