/* Checked mode: its start and end, and what this process may touch. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/os.h"
#include "runtime/check/state.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/say.h"

struct check_hooks check_hooks;

/* The pages are open to all, since too many mappings were needed. */
static _Atomic bool given_up;

void check_on_look(check_look_fn *look)
{
    check_hooks.look = look;
}

void check_on_top(check_top_fn *top)
{
    check_hooks.top = top;
}

void check_on_managed(check_managed_fn *managed)
{
    check_hooks.managed = managed;
}

void check_on_links(check_links_wanted_fn *wanted, check_links_fn *forgotten)
{
    check_hooks.links_wanted = wanted;
    check_hooks.links = forgotten;
}

void check_on_inside(check_inside_fn *inside)
{
    check_hooks.inside = inside;
}

static int set(uint64_t first, uint64_t pages, int mode)
{
    return os_protect(space_address(&runtime.space, first), pages << PAGE_SHIFT,
                      mode != 0, mode == DRASYNC_WRITE);
}

static void set_all(int mode)
{
    set(0, runtime.space.pages, mode);
}

/* Each run of pages with rights of its own is a mapping for the kernel. */
static void give_up(void)
{
    bool before = atomic_exchange(&given_up, true);

    set_all(DRASYNC_WRITE);
    if (!before)
        runtime_say("DRASYNC_CHECK: this process would need more mappings than "
                    "the kernel gives it, so access is not checked any more: "
                    "raise vm.max_map_count (sysctl)");
}

void check_allow(uint64_t first, uint64_t pages, int mode)
{
    if (!(runtime.options.check & OPTIONS_CHECK_ACCESS) || given_up)
        return;
    check_handler_keep();
    /* Or another thread gave up meanwhile, and may have opened all before this. */
    if (set(first, pages, mode) || given_up)
        give_up();
}

void check_open_all(void)
{
    static _Atomic bool done;

    if (!atomic_exchange(&done, true))
        set_all(DRASYNC_WRITE);
}

static int start_leader(void)
{
    return runtime.options.check ? check_boxes_new() : 0;
}

static int start(void)
{
    int err = 0;

    if (!runtime.options.check)
        return 0;
    check_lines_open();
    if (runtime.nodes > 1)
        check_ask_open();
    err = check_fault_start();
    if (!err && runtime.options.check & OPTIONS_CHECK_ACCESS)
        set_all(0);
    return err;
}

/* Memory of regions may be read after the end, by exit handlers say. */
static void open_at_end(void)
{
    if (runtime.options.check & OPTIONS_CHECK_ACCESS)
        set_all(DRASYNC_WRITE);
}

static void leave(void)
{
    if (runtime.options.check)
        open_at_end();
}

static void stop(void)
{
    if (!runtime.options.check)
        return;
    open_at_end();
    if (runtime.options.check & OPTIONS_CHECK_LEAKS)
        check_leaks();
    check_fault_stop();
}

const struct runtime_module check_module = {
    .name = "check",
    .start_leader = start_leader,
    .start = start,
    .leave = leave,
    .stop = stop,
};
