/* The competitive criterion, and which pages it moves: see engine.h. */
#include "upm/engine.h"

#include <errno.h>
#include <stdlib.h>

int upm_moves_add(struct upm_moves *moves, struct upm_move move)
{
    if (moves->count == moves->room) {
        size_t room = moves->room ? 2 * moves->room : 64;
        struct upm_move *at = realloc(moves->at, room * sizeof(*at));

        if (!at)
            return -ENOMEM;
        moves->at = at;
        moves->room = room;
    }
    moves->at[moves->count++] = move;
    return 0;
}

void upm_moves_free(struct upm_moves *moves)
{
    free(moves->at);
    *moves = (struct upm_moves){0};
}

struct upm_ratio upm_ratio(const uint32_t *counts, unsigned nodes, int home)
{
    struct upm_ratio ratio = {.node = UPM_NOWHERE};

    for (unsigned node = 0; node < nodes; node++) {
        if ((int)node == home) {
            ratio.local = counts[node];
        } else if (ratio.node == UPM_NOWHERE || counts[node] > ratio.remote) {
            ratio.node = (int16_t)node;
            ratio.remote = counts[node];
        }
    }
    return ratio;
}

bool upm_eligible(struct upm_ratio ratio, unsigned threshold_pct)
{
    return (uint64_t)ratio.remote * 100 >
           (uint64_t)ratio.local * (uint64_t)threshold_pct;
}

int upm_more_critical(const struct upm_move *a, const struct upm_move *b)
{
    /* a.remote / a.local against b.remote / b.local; x / 0 is above all. */
    uint64_t left = (uint64_t)a->remote * b->local;
    uint64_t right = (uint64_t)b->remote * a->local;

    if (left != right)
        return left > right ? -1 : 1;
    if (!a->local != !b->local)
        return a->local ? 1 : -1;
    if (a->remote != b->remote)
        return a->remote > b->remote ? -1 : 1;
    if (a->table != b->table)
        return (uintptr_t)a->table < (uintptr_t)b->table ? -1 : 1;
    return (a->page > b->page) - (a->page < b->page);
}

int upm_best_node(const uint32_t *counts, unsigned nodes, int home,
                  const uint8_t *distance)
{
    uint64_t best_largest = UINT64_MAX, best_sum = UINT64_MAX;
    int best = UPM_NOWHERE;

    for (unsigned to = 0; to < nodes; to++) {
        uint64_t largest = 0, sum = 0;

        for (unsigned from = 0; from < nodes; from++) {
            uint64_t latency = from == to
                                   ? 0
                                   : (uint64_t)counts[from] *
                                         distance[from * UPM_NODES_MAX + to];

            sum += latency;
            largest = latency > largest ? latency : largest;
        }
        if (largest > best_largest ||
            (largest == best_largest &&
             (sum > best_sum || (sum == best_sum && (int)to != home))))
            continue;
        best_largest = largest;
        best_sum = sum;
        best = (int)to;
    }
    return best;
}

const uint32_t *upm_counts(const struct upm_table *table, size_t page)
{
    return table->counts + page / table->unit_pages * table->nodes;
}

void upm_page_new(struct upm_page *page)
{
    *page = (struct upm_page){.home = UPM_NOWHERE,
                              .before = UPM_NOWHERE,
                              .origin = UPM_NOWHERE,
                              .planned = UPM_NOWHERE};
}

/* Notes where @page has been; what it may not do any more is said by frozen. */
static void follow(struct upm_page *page)
{
    if (page->before != UPM_NOWHERE && page->before != page->home) {
        page->left |= (uint64_t)1 << page->before;
        if (page->left >> page->home & 1 && page->returns < UINT8_MAX)
            page->returns++;
    }
    page->before = page->home;
}

int upm_judge(struct upm_table *table, size_t first, size_t count,
              const struct upm_tuning *tuning, struct upm_moves *moves)
{
    for (size_t i = first; i < first + count; i++) {
        struct upm_page *page = &table->page[i];
        const uint32_t *counts = upm_counts(table, i);

        if (page->home == UPM_NOWHERE)
            continue;
        follow(page);
        struct upm_ratio ratio = upm_ratio(counts, table->nodes, page->home);
        if (page->frozen || !upm_eligible(ratio, tuning->threshold_pct))
            continue;
        int node =
            upm_best_node(counts, table->nodes, page->home, table->distance);
        if (node == page->home)
            continue;
        bool returns = page->left >> node & 1;
        if (returns && tuning->freeze >= 0 && page->returns >= tuning->freeze) {
            page->frozen = true;
            continue;
        }
        int err =
            upm_moves_add(moves, (struct upm_move){table, i, (int16_t)node,
                                                   ratio.remote, ratio.local});
        if (err)
            return err;
    }
    return 0;
}
