/* replay_slots.c - which region or name a number in a record means, by the
 * model's slots. */
#include "sim/replay.h"

struct replay_address *replay_address(struct replay *replay, uint64_t address,
                                      bool name)
{
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15u) >> 20);

    for (;; i++) {
        struct replay_address *a = &replay->table[i % replay->table_slots];

        if (!a->used || (a->address == address && a->name == name))
            return a;
    }
}

uint32_t replay_slot_new(struct replay *replay, uint32_t id, uint64_t address,
                         uint64_t life)
{
    struct replay_address *a = replay_address(replay, address, false);

    a->used = true;
    a->address = address;
    a->slot = life ? (uint32_t)life - 1 : replay->slots++;
    a->maker = id;
    return a->slot;
}

uint32_t replay_slot(struct replay *replay, uint32_t id, uint64_t address,
                     uint64_t life)
{
    const struct replay_address *a;

    if (life)
        return (uint32_t)life - 1;
    a = replay_address(replay, address, false);
    if (a->used)
        return a->slot;
    model_fail(&replay->model,
               "rank %u uses region %llu, which is not there at that time", id,
               (unsigned long long)address);
    return MODEL_NO_SLOT;
}
