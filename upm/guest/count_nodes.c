/*
 * A plugin of QEMU: counts the guest's accesses to the windows that a program
 * marks (mark.h), by the node of the processor and the node of the page: what
 * the Origin2000 counted for each page.
 *
 *   -plugin FILE,nodes=N,cpus=PER_NODE,bytes=PER_NODE,out=FILE
 *
 * Writes a line for each iteration: its number and a count for each pair of
 * nodes; at the end of a run the sum of all, and how many pages lie where the last
 * complete iteration used them most.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upm/guest/mark.h"
#include "upm/guest/qemu_plugin.h"

#define NODES_MAX   8
#define WINDOWS_MAX 256
#define PAGE_BITS   12

/* Accesses of an iteration to a page, by node, and the page's own node then. */
struct page {
    uint32_t now[NODES_MAX], last[NODES_MAX];
    uint32_t node, last_node;
};

struct window {
    uint64_t start, bytes;
    struct page *pages;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t nodes = 2, node_cpus = 1, node_bytes;
static FILE *out;
static uint8_t rows[MARK_ROWS];
static struct window windows[WINDOWS_MAX];
static unsigned
    window_count; /* written after its window, read without a lock */
static uint64_t counts[NODES_MAX][NODES_MAX], sums[NODES_MAX][NODES_MAX];
static unsigned iterations;

static void print_counts(const char *what, uint64_t of[NODES_MAX][NODES_MAX])
{
    uint64_t local = 0, all = 0;

    fprintf(out, "%s", what);
    for (uint64_t i = 0; i < nodes; i++) {
        for (uint64_t j = 0; j < nodes; j++) {
            fprintf(out, " %" PRIu64, of[i][j]);
            all += of[i][j];
            local += i == j ? of[i][j] : 0;
        }
    }
    fprintf(out, " remote %.2f%%\n",
            all ? 100.0 * (double)(all - local) / (double)all : 0);
}

static void end_iteration(void)
{
    char what[32];

    snprintf(what, sizeof(what), "iteration %u", ++iterations);
    print_counts(what, counts);
    fflush(out);
    for (uint64_t i = 0; i < nodes * NODES_MAX; i++) {
        sums[i / NODES_MAX][i % NODES_MAX] +=
            counts[i / NODES_MAX][i % NODES_MAX];
        counts[i / NODES_MAX][i % NODES_MAX] = 0;
    }
    for (unsigned w = 0; w < window_count; w++) {
        for (uint64_t p = 0; p < windows[w].bytes >> PAGE_BITS; p++) {
            struct page *page = &windows[w].pages[p];

            memcpy(page->last, page->now, sizeof(page->last));
            page->last_node = page->node;
            memset(page->now, 0, sizeof(page->now));
        }
    }
}

static void add_window(void)
{
    struct window *window = &windows[window_count];
    uint64_t mask = ((uint64_t)1 << PAGE_BITS) - 1, start, bytes, end;

    memcpy(&start, rows, sizeof(start));
    memcpy(&bytes, rows + sizeof(start), sizeof(bytes));
    end = (start + bytes) & ~mask;
    start = (start + mask) & ~mask;
    if (window_count == WINDOWS_MAX || end <= start)
        return;
    window->start = start;
    window->bytes = end - start;
    window->pages = calloc(window->bytes >> PAGE_BITS, sizeof(struct page));
    /* Pairs with the load in accessed(): whoever sees the count sees the
     * window. */
    if (window->pages)
        __atomic_store_n(&window_count, window_count + 1, __ATOMIC_RELEASE);
}

/* A run ends: its sums, and the pages that no node used more than their own. */
static void end_run(void)
{
    uint64_t used = 0, home = 0;
    unsigned count = window_count;

    /* Marks come from one thread, while no other uses the windows. */
    __atomic_store_n(&window_count, 0, __ATOMIC_RELEASE);
    print_counts("sum", sums);
    for (unsigned w = 0; w < count; w++) {
        for (uint64_t p = 0; p < windows[w].bytes >> PAGE_BITS; p++) {
            const struct page *page = &windows[w].pages[p];
            uint32_t most = 0;

            for (uint64_t n = 0; n < nodes; n++)
                most = page->last[n] > most ? page->last[n] : most;
            used += most > 0;
            home += most > 0 && page->last[page->last_node] == most;
        }
        free(windows[w].pages);
    }
    fprintf(out, "pages %" PRIu64 " of %" PRIu64 " at home\n", home, used);
    memset(counts, 0, sizeof(counts));
    memset(sums, 0, sizeof(sums));
    iterations = 0;
}

static void marked(uint64_t at)
{
    uint64_t offset = at - MARK_BASE;

    if (at < MARK_COMMAND)
        rows[offset / MARK_ROW_BYTES] = (uint8_t)(offset % MARK_ROW_BYTES);
    else if (at == MARK_COMMAND + MARK_WINDOW)
        add_window();
    else if (at == MARK_COMMAND + MARK_ITERATION)
        end_iteration();
    else if (at == MARK_COMMAND + MARK_END)
        end_run();
}

/*
 * The node of an access's frame.  Each node's memory is a block of its own; QEMU
 * gives the sum of the block's place among the blocks and of its place in the
 * guest's memory, which are equal, and the offset in the block.
 */
static uint64_t node_of(qemu_plugin_meminfo_t info, uint64_t at)
{
    struct qemu_plugin_hwaddr *frame = qemu_plugin_get_hwaddr(info, at);

    return !frame || qemu_plugin_hwaddr_is_io(frame)
               ? UINT64_MAX
               : qemu_plugin_hwaddr_phys_addr(frame) / (2 * node_bytes);
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t at,
                     void *data)
{
    unsigned count = __atomic_load_n(&window_count, __ATOMIC_ACQUIRE);

    (void)data;
    if (at - MARK_BASE < MARK_BASE_BYTES) {
        marked(at);
        return;
    }
    for (unsigned w = 0; w < count; w++) {
        uint64_t offset = at - windows[w].start;

        if (offset >= windows[w].bytes)
            continue;
        uint64_t here = cpu / node_cpus, there = node_of(info, at);
        if (here >= nodes || there >= nodes)
            return;
        struct page *page = &windows[w].pages[offset >> PAGE_BITS];
        /* Sums only: no order is needed. */
        __atomic_fetch_add(&counts[here][there], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&page->now[here], 1, __ATOMIC_RELAXED);
        __atomic_store_n(&page->node, (uint32_t)there, __ATOMIC_RELAXED);
        return;
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
                                         accessed, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
    }
}

static void ended(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    if (window_count)
        end_run();
    fclose(out);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const void *info, int argc,
                                           char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=');

        if (value && !strncmp(argv[i], "nodes=", 6))
            nodes = strtoull(value + 1, NULL, 10);
        else if (value && !strncmp(argv[i], "cpus=", 5))
            node_cpus = strtoull(value + 1, NULL, 10);
        else if (value && !strncmp(argv[i], "bytes=", 6))
            node_bytes = strtoull(value + 1, NULL, 10);
        else if (value && !strncmp(argv[i], "out=", 4))
            out = fopen(value + 1, "w");
    }
    if (!out || !node_bytes || !node_cpus || !nodes || nodes > NODES_MAX)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
