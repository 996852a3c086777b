/*
 * drasync-ps --json.  Times in microseconds, sizes in bytes; what is not known is
 * left out.  Addresses are strings, as not every reader has 64-bit numbers.
 */
#include <inttypes.h>

#include "memory/limit.h"
#include "runtime/diagnose/ps.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "runtime/stats.h"
#include "save/json.h"

static void add_string(struct text *text, const char *key, const char *value)
{
    char character[JSON_CHARACTER_BYTES];

    text_add(text, "\"%s\": \"", key);
    while (*value) {
        value = json_character(value, character);
        text_add(text, "%s", character);
    }
    text_add(text, "\"");
}

static void add_address(struct text *text, uint64_t address)
{
    char name[DRASYNC_NAME_MAX + 1];

    text_add(text, "\"region\": \"0x%" PRIx64 "\"", address);
    ps_name(address, name);
    if (!name[0])
        return;
    text_add(text, ", ");
    add_string(text, "name", name);
}

static void add_frames(struct text *text, const struct code_place *frames)
{
    char place[PLACE_TEXT_BYTES];

    text_add(text, ", \"stack\": [");
    for (int i = 0;
         i < WAITING_FRAMES && place_text(&frames[i], place, sizeof(place))[0];
         i++) {
        text_add(text, i ? ", {" : "{");
        add_string(text, "at", place);
        text_add(text, "}");
    }
    text_add(text, "]");
}

/* WAITING_CALL. */
static void add_call(struct text *text, const struct waiting_seen *seen)
{
    text_add(text, ", ");
    add_string(text, "call", seen->name);
    if (seen->address) {
        text_add(text, ", ");
        add_address(text, seen->address);
    }
    if (seen->peer != WAITING_NOBODY)
        text_add(text, ", \"from\": %d", (int)seen->peer);
}

static void add_wait(struct text *text, const struct waiting_slot *slot,
                     bool *first)
{
    static const char *const whats[] = {
        [WAITING_NOTHING] = "nothing",
        [WAITING_REGION] = "region",
        [WAITING_VERSION] = "sys_recv",
        [WAITING_BARRIER] = "sys_barrier",
        [WAITING_NAME] = "name",
        [WAITING_RUN] = "drasync_run",
        [WAITING_GIFT] = "drasync_take",
        [WAITING_NEWER] = "newer",
        [WAITING_ANY] = "drasync_wait_any",
        [WAITING_CALL] = "answer",
    };
    struct waiting_seen seen;
    uint64_t now = runtime_now_us();

    if (!waiting_read(slot, &seen) || seen.what > WAITING_CALL)
        return;
    text_add(text, "%s{\"for\": \"%s\", \"thread\": %d, \"age_us\": %" PRIu64,
             *first ? "" : ", ", whats[seen.what], (int)seen.thread,
             now > seen.since_us ? now - seen.since_us : 0);
    *first = false;
    if (waiting_on_region(&seen)) {
        text_add(text, ", \"mode\": \"%s\", ", text_mode(seen.mode));
        add_address(text, seen.address);
        if (waiting_newer(&seen))
            text_add(text, ", \"newer_than\": %" PRIu64, seen.version);
        if (seen.what == WAITING_ANY)
            text_add(text, ", \"requests\": %u", (unsigned)seen.requests);
    } else if (seen.what == WAITING_VERSION ||
               (seen.what == WAITING_GIFT && seen.peer != WAITING_NOBODY)) {
        text_add(text, ", \"from\": %d", (int)seen.peer);
    } else if (seen.what == WAITING_CALL) {
        add_call(text, &seen);
    } else if (seen.what == WAITING_NAME) {
        text_add(text, ", ");
        add_string(text, "name", seen.name);
    }
    add_frames(text, seen.frames);
    text_add(text, "}");
}

static void add_rank(struct text *text, uint32_t local)
{
    static const struct {
        const char *name;
        enum runtime_counter counter;
    } counters[] = {
        {"acquires", RUNTIME_COUNT_ACQUIRES},
        {"acquires_waited", RUNTIME_COUNT_ACQUIRES_WAITED},
        {"releases", RUNTIME_COUNT_RELEASES},
        {"allocations", RUNTIME_COUNT_ALLOCATIONS},
        {"frees", RUNTIME_COUNT_FREES},
        {"bytes_copied", RUNTIME_COUNT_BYTES_COPIED},
    };
    const struct runtime_rank *slot = &runtime.shared->ranks[local];
    const struct waiting_rank *w = facts_waiting(local);
    bool first = true;

    text_add(text, "    {\"rank\": %d, \"pid\": %d, \"state\": \"%s\"",
             (int)slot->rank, (int)slot->pid,
             ps_state(atomic_load(&slot->state)));
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        text_add(text, ", \"%s\": %" PRIu64, counters[i].name,
                 atomic_load_explicit(&slot->counters[counters[i].counter],
                                      memory_order_relaxed));
    if (atomic_load(&w->mpi_call))
        text_add(text, ", \"mpi_call\": \"%s\", \"mpi_peer\": %d",
                 waiting_mpi_name(atomic_load(&w->mpi_call)),
                 (int)atomic_load(&w->mpi_peer));
    text_add(text, ", \"waits\": [");
    for (int t = 0; t < WAITING_THREADS; t++)
        add_wait(text, &w->slots[t], &first);
    text_add(text, "]}");
}

static void add_hold(struct text *text, const struct native_look *region,
                     int32_t holder, bool writes)
{
    const int32_t ranks = runtime.shared->ranks_of_job;
    char where[PLACE_TEXT_BYTES];
    struct code_place place;
    uint64_t age_us;
    int local = facts_local(holder);

    text_add(text, "    {\"rank\": %d, %s\"mode\": \"%s\", ",
             (int)(holder % ranks),
             holder < ranks ? ""
             : writes       ? "\"by\": \"run\", "
                            : "\"by\": \"save\", ",
             writes ? "WRITE" : "READ");
    add_address(text, region->address);
    if (local >= 0) {
        facts_of_hold((uint32_t)local, region, &age_us, &place);
        if (age_us != UINT64_MAX)
            text_add(text, ", \"age_us\": %" PRIu64, age_us);
        if (place_text(&place, where, sizeof(where))[0]) {
            text_add(text, ", ");
            add_string(text, "at", where);
        }
    }
    text_add(text, "}");
}

static void add_holds(struct text *text, const struct ps_view *view)
{
    size_t listed = 0;

    for (size_t r = 0; r < view->count && listed < view->lines_max; r++) {
        const struct native_look *region = &view->regions[r];

        for (uint32_t i = 0;
             (i == 0 || i <= region->reads) && listed < view->lines_max; i++) {
            int32_t holder = ps_holder(region, i);

            if (holder < 0 && i > 0)
                break;
            if (holder < 0)
                continue;
            text_add(text, listed++ ? ",\n" : "\n");
            add_hold(text, region, holder, i == 0);
        }
    }
}

static void add_regions(struct text *text, const struct ps_view *view)
{
    for (size_t r = 0; r < view->count && r < view->lines_max; r++) {
        const struct native_look *region = &view->regions[r];

        text_add(text, "%s    {", r ? ",\n" : "\n");
        add_address(text, region->address);
        text_add(text,
                 ", \"bytes\": %" PRIu64 ", \"extents\": %" PRIu64
                 ", \"version\": %" PRIu64 ", \"owned\": %s, \"waiting\": %u",
                 region->pages << PAGE_SHIFT, region->extents, region->version,
                 region->owned ? "true" : "false", region->waiting);
        if (region->parent)
            text_add(text, ", \"parent\": \"0x%" PRIx64 "\"", region->parent);
        text_add(text, "}");
    }
}

void ps_json_node(struct text *text, const struct ps_view *view)
{
    const struct runtime_shared *s = runtime.shared;
    char program[PS_PROGRAM_BYTES];

    text_add(text, "  {\"node\": %d, \"nodes\": %d, ", runtime.node,
             runtime.nodes);
    add_string(text, "host", runtime.host);
    if (ps_program(program)) {
        text_add(text, ", ");
        add_string(text, "program", program);
    }
    text_add(text,
             ", \"memory_used\": %" PRIu64 ", \"memory_limit\": %" PRIu64
             ", \"messages_sent\": %" PRIu64 ", \"messages_received\": %" PRIu64
             ", \"bytes_sent\": %" PRIu64 ", \"bytes_received\": %" PRIu64
             ", \"regions_known\": %zu,\n   \"ranks\": [\n",
             limit_used_bytes(&runtime.space), limit_bytes(&runtime.space),
             atomic_load(&s->messages_sent), atomic_load(&s->messages_received),
             stats_bytes_sent(s), stats_bytes_received(s), view->count);
    for (uint32_t i = 0; i < s->locals; i++) {
        text_add(text, i ? ",\n" : "");
        add_rank(text, i);
    }
    text_add(text, "],\n   \"holds\": [");
    add_holds(text, view);
    text_add(text, "],\n   \"regions\": [");
    add_regions(text, view);
    text_add(text, "]}");
}
