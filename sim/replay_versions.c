/*
 * replay_versions.c - which version of a region a recorded one is in the replay.
 *
 * A program knows a version because a rank that held the region left it behind.
 * So the lines L say which: once such a line is run, the version that the region
 * has then is the recorded one.
 *
 * An acquire for what is newer waits in the replay as it would have in the run,
 * unless the version that it got there has been left already.  Else it might
 * wait for ever: what came in one step here may have come in two there.
 */
#include <stdlib.h>

#include "sim/replay.h"

struct version {
    uint32_t slot;
    uint64_t recorded, now; /* 0: the entry is free; not left yet */
};

struct replay_versions {
    struct version *table;
    size_t size; /* a power of two, more than there are versions */
};

static struct version *find(const struct replay_versions *versions,
                            uint32_t slot, uint64_t recorded)
{
    uint64_t hash = (recorded ^ (uint64_t)slot << 40) * 0x9e3779b97f4a7c15u;
    struct version *v;

    for (size_t i = (size_t)(hash >> 20);; i++) {
        v = &versions->table[i & (versions->size - 1)];
        if (!v->recorded || (v->slot == slot && v->recorded == recorded))
            return v;
    }
}

int replay_versions_open(struct replay *replay)
{
    const struct records *records = &replay->records;
    struct replay_versions *versions = calloc(1, sizeof(*versions));
    size_t count = 0;

    replay->versions = versions;
    if (!versions)
        return -1;
    for (uint32_t i = 0; i < records->ranks; i++)
        for (size_t j = 0; j < records->rank[i].count; j++)
            count += records->rank[i].line[j].kind == 'L';
    versions->size = 2;
    while (versions->size < 2 * count)
        versions->size *= 2;
    versions->table = calloc(versions->size, sizeof(*versions->table));
    return versions->table ? 0 : -1;
}

void replay_versions_close(struct replay *replay)
{
    if (replay->versions)
        free(replay->versions->table);
    free(replay->versions);
    replay->versions = NULL;
}

void replay_version_left(struct replay *replay, uint32_t id, uint32_t slot,
                         const struct record_line *line)
{
    struct model *model = &replay->model;
    const struct proto_region *region =
        model_find(model, model->rank[id].node, model->region[slot].address);
    struct version *v;
    uint64_t now;

    if (!line->argument[2] || !region ||
        proto_held_version(region, (int32_t)id, &now))
        return;
    v = find(replay->versions, slot, line->argument[2]);
    if (v->now)
        return; /* others READ it before */
    *v = (struct version){slot, line->argument[2], now};
}

uint64_t replay_version_known(const struct replay *replay, uint32_t slot,
                              const struct record_line *line)
{
    if (!line->argument[3] ||
        find(replay->versions, slot, line->argument[3])->now)
        return 0;
    return find(replay->versions, slot, line->argument[2])->now;
}
