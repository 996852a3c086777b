/* drasync-ps: its options, and what it prints for people: see ps.h. */
#include "runtime/diagnose/ps.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drasync.h"
#include "memory/limit.h"
#include "runtime/process.h"
#include "runtime/services/names.h"
#include "runtime/shared.h"

#define LINES_DEFAULT 20

static const char usage[] =
    "Usage: drasync-ps [--json] [--lines N] [--all | PID ...]\n"
    "\n"
    "Prints what the DRASync jobs of this host do, without stopping them: "
    "ranks,\n"
    "what they wait for, who holds what, the largest regions, memory.  PID is "
    "a\n"
    "rank, or a process that started some, like mpirun; default: all.\n"
    "\n"
    "  --json     one JSON object, for programs\n"
    "  --lines N  list at most N holds and N regions of a node (default 20)\n"
    "  --version\n";

/* --- What there is -------------------------------------------------------- */

int32_t ps_holder(const struct native_look *region, uint32_t i)
{
    if (i == 0)
        return region->write_rank;
    return native_look_reader(region->address, i - 1);
}

void ps_name(uint64_t address, char name[DRASYNC_NAME_MAX + 1])
{
    name[0] = 0;
    names_look(address, name);
}

const char *ps_state(uint32_t state)
{
    static const char *const names[] = {
        [RUNTIME_RANK_STARTING] = "starting",
        [RUNTIME_RANK_RUNNING] = "running",
        [RUNTIME_RANK_QUIESCED] = "finalizing",
        [RUNTIME_RANK_STOPPED] = "finalized",
        [RUNTIME_RANK_EXITED] = "left",
        [RUNTIME_RANK_BURIED] = "died",
    };

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void note_region(const struct native_look *look, void *arg)
{
    struct ps_view *view = arg;

    if (view->count == view->room) {
        size_t room = view->room ? 2 * view->room : 256;
        struct native_look *grown =
            realloc(view->regions, room * sizeof(*grown));

        if (!grown)
            return;
        view->regions = grown;
        view->room = room;
    }
    view->regions[view->count++] = *look;
}

static int larger(const void *a, const void *b)
{
    const struct native_look *x = a, *y = b;

    if (x->pages != y->pages)
        return x->pages > y->pages ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* --- For people ----------------------------------------------------------- */

static void add_size(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (bytes >= 10240 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    text_add(text, "%" PRIu64 " %s", bytes, units[unit]);
}

bool ps_program(char program[PS_PROGRAM_BYTES])
{
    char path[64], *name;
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/exe",
             (int)runtime.shared->ranks[0].pid);
    length = readlink(path, program, PS_PROGRAM_BYTES - 1);
    if (length <= 0)
        return false;
    program[length] = 0;
    name = strrchr(program, '/');
    if (name)
        memmove(program, name + 1, strlen(name));
    return true;
}

static void add_head(struct text *text, const struct ps_view *view)
{
    const struct runtime_shared *s = runtime.shared;
    char program[PS_PROGRAM_BYTES];

    text_add(text, "node %d of %d on %s: %u ranks", runtime.node, runtime.nodes,
             runtime.host, s->locals);
    if (ps_program(program))
        text_add(text, " of %s", program);
    text_add(text, ", %zu regions, memory ", view->count);
    add_size(text, limit_used_bytes(&runtime.space));
    text_add(text, " of ");
    add_size(text, limit_bytes(&runtime.space));
    text_add(text, ", messages sent %" PRIu64 ", received %" PRIu64 "\n",
             atomic_load(&s->messages_sent),
             atomic_load(&s->messages_received));
}

static uint64_t counter(const struct runtime_rank *rank,
                        enum runtime_counter which)
{
    return atomic_load_explicit(&rank->counters[which], memory_order_relaxed);
}

static void add_wait(struct text *text, const struct facts_wait *wait)
{
    char name[DRASYNC_NAME_MAX + 1];

    ps_name(wait->seen.address, name);
    text_wait(text, &wait->seen, name, false);
    text_add(text, " since %lu s", (unsigned long)(wait->age_us / 1000000));
    text_frames(text, wait->seen.frames, WAITING_FRAMES);
}

static void add_rank(struct text *text, const struct runtime_rank *slot)
{
    struct facts_rank rank;

    facts_of_rank(slot->rank, &rank);
    text_add(text, "%6d %9d %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ",
             (int)slot->rank, (int)slot->pid,
             counter(slot, RUNTIME_COUNT_ACQUIRES),
             counter(slot, RUNTIME_COUNT_ACQUIRES_WAITED),
             counter(slot, RUNTIME_COUNT_RELEASES));
    if (rank.waits)
        add_wait(text, &rank.wait);
    else
        text_doing(text, &rank);
    if (rank.waits > 1)
        text_add(text, ", and %u more of its threads wait", rank.waits - 1);
    text_add(text, "\n");
}

static void add_hold(struct text *text, const struct native_look *region,
                     int32_t holder, bool writes)
{
    char name[DRASYNC_NAME_MAX + 1];
    struct code_place place;
    uint64_t age_us;
    int local = facts_local(holder);

    ps_name(region->address, name);
    text_add(text, "  ");
    text_who(text, holder, writes ? DRASYNC_WRITE : DRASYNC_READ);
    text_add(text, " for %s of ", writes ? "WRITE" : "READ");
    text_region(text, region->address, name);
    if (local >= 0) {
        facts_of_hold((uint32_t)local, region, &age_us, &place);
        text_hold(text, age_us, &place);
    }
    text_add(text, "\n");
}

static void add_holds(struct text *text, const struct ps_view *view)
{
    size_t listed = 0, left = 0;

    for (size_t r = 0; r < view->count; r++) {
        const struct native_look *region = &view->regions[r];

        for (uint32_t i = 0; i == 0 || i <= region->reads; i++) {
            int32_t holder = ps_holder(region, i);

            if (holder < 0 && i > 0)
                break;
            if (holder < 0)
                continue;
            if (listed == view->lines_max) {
                left++;
                continue;
            }
            text_add(text, listed++ ? "" : "holds:\n");
            add_hold(text, region, holder, i == 0);
        }
    }
    if (left)
        text_add(text, "  and %zu more\n", left);
}

static void add_regions(struct text *text, const struct ps_view *view)
{
    char name[DRASYNC_NAME_MAX + 1];

    for (size_t r = 0; r < view->count && r < view->lines_max; r++) {
        const struct native_look *region = &view->regions[r];

        if (r == 0)
            text_add(text, "regions, the largest first:\n");
        ps_name(region->address, name);
        text_add(text, "  ");
        text_region(text, region->address, name);
        text_add(text, ": ");
        add_size(text, region->pages << PAGE_SHIFT);
        text_add(text, ", version %" PRIu64, region->version);
        if (region->parent)
            text_add(text, ", below 0x%" PRIx64, region->parent);
        if (!region->owned)
            text_add(text, ", owned by another node");
        if (region->waiting)
            text_add(text, ", %u requests wait in its tree", region->waiting);
        text_add(text, "\n");
    }
    if (view->count > view->lines_max)
        text_add(text, "  and %zu more\n", view->count - view->lines_max);
}

static void add_node(struct text *text, const struct ps_view *view)
{
    add_head(text, view);
    text_add(text, "%6s %9s %10s %10s %10s  %s\n", "rank", "process",
             "acquires", "waited", "releases", "what it does");
    for (uint32_t i = 0; i < runtime.shared->locals; i++)
        add_rank(text, &runtime.shared->ranks[i]);
    add_holds(text, view);
    add_regions(text, view);
}

static void view_open(struct ps_view *view, size_t lines_max)
{
    *view = (struct ps_view){.lines_max = lines_max};
    native_look_each(note_region, view);
    if (view->count)
        qsort(view->regions, view->count, sizeof(*view->regions), larger);
}

void ps_add_node(struct text *text, size_t lines_max)
{
    struct ps_view view;

    view_open(&view, lines_max);
    add_node(text, &view);
    free(view.regions);
}

/* --- The program ---------------------------------------------------------- */

struct ps {
    bool json;
    size_t lines_max;
    struct text text;
    size_t shown, unready;
};

static void show(struct ps *ps, const struct ps_node *node)
{
    struct ps_view view;

    if (ps_open(node)) {
        ps->unready++;
        return;
    }
    view_open(&view, ps->lines_max);
    if (ps->shown++)
        text_add(&ps->text, ps->json ? ",\n" : "\n");
    if (ps->json)
        ps_json_node(&ps->text, &view);
    else
        add_node(&ps->text, &view);
    free(view.regions);
    ps_close(node);
}

static int show_all(struct ps *ps, int pid)
{
    struct ps_nodes nodes;
    int err = ps_find(pid, &nodes);

    for (size_t i = 0; i < nodes.count; i++) {
        if (!err)
            show(ps, &nodes.list[i]);
        close(nodes.list[i].fd);
    }
    free(nodes.list);
    if (err)
        fprintf(stderr, "drasync-ps: %s\n", drasync_strerror(err));
    else if (!nodes.count && pid)
        fprintf(stderr,
                "drasync-ps: process %d, and what it started, is no DRASync "
                "job that this user may look at\n",
                pid);
    else if (nodes.refused && !nodes.count)
        fprintf(stderr,
                "drasync-ps: no DRASync job of this user; %zu "
                "processes of others were not looked at\n",
                nodes.refused);
    return err || (pid && !nodes.count);
}

static int number(const char *text, long most, const char *what, long *out)
{
    char *end;

    *out = strtol(text, &end, 10);
    if (*text && !*end && *out > 0 && *out <= most)
        return 0;
    fprintf(stderr, "drasync-ps: %s is no %s\n%s", text, what, usage);
    return 2;
}

/* 0: go on, else the status + 1. */
static int read_options(struct ps *ps, int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"lines", required_argument, NULL, 'n'},
        {"all", no_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    long lines;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        switch (c) {
        case 'j':
            ps->json = true;
            break;
        case 'n':
            if (number(optarg, INT32_MAX, "number of lines", &lines))
                return 3;
            ps->lines_max = (size_t)lines;
            break;
        case 'a':
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        case 'V':
            printf("drasync-ps %s\n", drasync_version());
            return 1;
        default:
            fputs(usage, stderr);
            return 3;
        }
    }
    return 0;
}

static int run(struct ps *ps, int argc, char **argv)
{
    int status = 0;
    long pid;

    if (optind == argc)
        return show_all(ps, 0);
    for (int i = optind; i < argc && status < 2; i++) {
        if (number(argv[i], INT32_MAX, "process number", &pid))
            return 2;
        status |= show_all(ps, (int)pid);
    }
    return status;
}

int drasync_ps(int argc, char **argv)
{
    struct ps ps = {.lines_max = LINES_DEFAULT, .text.endless = true};
    int status = read_options(&ps, argc, argv);

    if (status)
        return status - 1;
    gethostname(runtime.host, sizeof(runtime.host) - 1);
    if (ps.json)
        text_add(&ps.text, "{\"version\": \"%s\", \"nodes\": [\n",
                 drasync_version());
    status = run(&ps, argc, argv);
    if (ps.json)
        text_add(&ps.text, "]}\n");
    if (ps.text.length)
        fwrite(ps.text.bytes, 1, ps.text.length, stdout);
    if (ps.text.cut) {
        fprintf(stderr, "drasync-ps: out of memory, not all is printed\n");
        status = 1;
    }
    if (ps.unready)
        fprintf(stderr,
                "drasync-ps: %zu nodes are just starting, or run "
                "another version of DRASync than %s\n",
                ps.unready, drasync_version());
    free(ps.text.bytes);
    return fflush(stdout) ? 1 : status;
}
