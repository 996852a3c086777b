/* replay_kept.c - what is sent to several workers of a node goes there once. */
#include <stdlib.h>

#include "sim/replay.h"

struct replay_kept {
    uint32_t *serial; /* by rank: of what it keeps now */
    uint32_t *has;    /* by rank and node: what of the rank's that one keeps */
};

int replay_kept_open(struct replay *replay)
{
    size_t ranks = replay->records.ranks;
    struct replay_kept *kept = calloc(1, sizeof(*kept));

    replay->kept = kept;
    if (!kept)
        return -1;
    kept->serial = calloc(ranks, sizeof(*kept->serial));
    kept->has = calloc(ranks * replay->model.nodes, sizeof(*kept->has));
    return kept->serial && kept->has ? 0 : -1;
}

void replay_kept_close(struct replay *replay)
{
    if (!replay->kept)
        return;
    free(replay->kept->serial);
    free(replay->kept->has);
    free(replay->kept);
    replay->kept = NULL;
}

uint64_t replay_kept_bytes(struct replay *replay, uint32_t id,
                           const struct record_line *line)
{
    const struct model *model = &replay->model;
    uint32_t node = model->rank[line->argument[1]].node;
    uint32_t *serial = &replay->kept->serial[id];
    uint32_t *has = &replay->kept->has[(size_t)id * model->nodes + node];

    if (line->argument[3] == REPLAY_KEPT)
        ++*serial;
    if (!line->argument[3] || model->per_node < 2)
        return line->argument[2];
    if (line->argument[3] == REPLAY_SAME && *has == *serial &&
        node != model->rank[id].node)
        return 0;
    *has = *serial;
    return line->argument[2];
}
