/*
 * Checked mode, DRASYNC_CHECK=links: what a WRITE hold that is about to end
 * leaves in its region, and below, of addresses of other root regions.
 *
 * The look is before the end, so that nobody else changes data or links
 * meanwhile, and in pieces: each is a step of its own, and after each another
 * thread of this rank may have given the hold back.
 */
#include <stdlib.h>

#include "memory/heap_words.h"
#include "memory/marks.h"
#include "runtime/native/state.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"

/* Words of a piece: half a millisecond.  A question of whose an address is, and
 * a region, cost as many as: */
#define PIECE_WORDS  131072
#define ASK_WORDS    64
#define REGION_WORDS 256

/* Words of a hold, a GiB; what comes after them is not looked at. */
#define WORDS_MAX (INT64_C(1) << 27)

/* A power of 2, and twice as many as targets. */
#define SLOTS (2 * CHECK_LINKS_MAX)

struct pages {
    uint64_t first, end;
};

struct walk {
    struct check_links *links;
    uint64_t at, incarnation; /* the region that is looked at */
    struct heap_words words;
    int64_t left;
    /* Of a piece: */
    const struct native_tree *tree;
    const struct proto_region *region;
    struct pages own, last; /* of this tree, and of the last target */
    /* A hash table of targets: numbers from 1 on, by what they are known by. */
    uint64_t key[CHECK_LINKS_MAX];
    uint16_t slot[SLOTS];
};

/* --- Which holds ---------------------------------------------------------- */

/* Does this rank's hold of @r for WRITE, with none above it for that, end? */
static bool ends(const struct proto_region *r, bool gives)
{
    const struct proto_hold *hold;
    uint32_t reads;

    if (!r || r->dead || r->write_rank != native.rank || r->write_count != 1)
        return false;
    for (const struct proto_region *a = r->parent; a; a = a->parent)
        if (a->write_rank == native.rank)
            return false;
    hold = proto_read_hold(r, native.rank);
    reads = hold ? hold->count : 0;
    if (gives)
        return !reads && !proto_held_below(r, native.rank);
    return !reads || native_taken_next(r->address, r->incarnation, 1, reads) ==
                         DRASYNC_WRITE;
}

/* Which region's hold ends; false: none. */
static bool begin(uint64_t address, struct check_links *out)
{
    const struct proto_region *root;
    struct native_tree tree;
    bool found;

    if (native_lock_for(NATIVE_FOR_DATA, address, &tree))
        return false;
    found = ends(tree.region, out->given);
    if (found) {
        root = tree.region;
        while (root->parent)
            root = root->parent;
        out->region = address;
        out->incarnation = tree.region->incarnation;
        out->root = root->address;
        out->root_incarnation = root->incarnation;
    }
    native_unlock(&tree);
    return found;
}

/* --- Words ---------------------------------------------------------------- */

static bool is_in(const struct pages *pages, uint64_t page)
{
    return page >= pages->first && page < pages->end;
}

/* The target that is known by @key; NULL: there is one, or no room. */
static struct check_target *target_new(struct walk *w, uint64_t key)
{
    uint64_t i = space_page_hash(key, 32) % SLOTS;

    for (; w->slot[i]; i = (i + 1) % SLOTS)
        if (w->key[w->slot[i] - 1] == key)
            return NULL;
    if (w->links->count == CHECK_LINKS_MAX) {
        w->links->full = true;
        return NULL;
    }
    w->key[w->links->count] = key;
    w->slot[i] = (uint16_t)++w->links->count;
    return &w->links->target[w->links->count - 1];
}

/* @page, of which this node knows no region: might another one? */
static bool is_elsewhere(uint64_t page)
{
    int home;

    if (runtime.nodes == 1)
        return false;
    home =
        native_home((uint64_t)(uintptr_t)space_address(&runtime.space, page));
    return home >= 0 && home != runtime.node;
}

/* @word, on @page, at byte @at of @object. */
static void meet(struct walk *w, const struct heap_object *object, uint64_t at,
                 uint64_t word, uint64_t page)
{
    struct pages pages = {page, page + 1};
    struct check_target *target;
    struct extent_copy copy;
    drasync_region_t region;
    uint64_t key = (uint64_t)(uintptr_t)space_address(&runtime.space, page);
    const struct proto_region *r;

    if (!extent_find(&runtime.space, (void *)(uintptr_t)word, &copy))
        pages = (struct pages){copy.first_page, copy.first_page + copy.pages};
    if (!native_region_of((void *)(uintptr_t)word, &region)) {
        key = (uint64_t)(uintptr_t)region;
        r = native_find_in(w->tree, key);
        if (r && r->root == w->region->root) {
            w->own = pages;
            return;
        }
    } else if (!is_elsewhere(page)) {
        return;
    }
    w->last = pages;
    target = target_new(w, key);
    if (target)
        *target = (struct check_target){
            .word = word,
            .region = w->region->address,
            .incarnation = w->region->incarnation,
            .object = object->address,
            .object_bytes = object->bytes,
            .at = at,
            .made = object->made,
        };
}

static uint64_t look(void *arg, const struct heap_object *object, uint64_t at,
                     uint64_t count)
{
    const uint64_t *words = (const uint64_t *)(uintptr_t)(object->address + at);
    struct walk *w = arg;
    uint64_t asked = 0, page;

    for (uint64_t i = 0; i < count; i++) {
        page = space_page(&runtime.space, (void *)(uintptr_t)words[i]);
        if (page == SPACE_NO_PAGE || is_in(&w->own, page) ||
            is_in(&w->last, page))
            continue;
        meet(w, object, at + i * sizeof(words[0]), words[i], page);
        asked++;
    }
    return asked * ASK_WORDS;
}

/* --- Pieces --------------------------------------------------------------- */

/* Go on in w->region.  True: that is done. */
static bool look_in(struct walk *w, int64_t *left)
{
    const struct proto_region *r = w->region;
    struct native_header *header = native_header_of(r->address);
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = r->memory};
    const struct heap_checked checked = {
        .context = &context,
        .heap = &header->heap,
        .queue = &header->objects,
        .life = r->incarnation,
        .marks = marks_wanted(),
    };

    *left -= REGION_WORDS;
    if (!r->memory || proto_held(r, native.rank) != DRASYNC_WRITE)
        return true;
    return !heap_words_look(&checked, &w->words, left, look, w);
}

/* A step.  True: there is more. */
static bool piece(struct walk *w)
{
    const struct check_links *links = w->links;
    const struct proto_region *top;
    int64_t left = PIECE_WORDS;
    struct native_tree tree;
    bool more = false;

    if (native_lock_for(NATIVE_FOR_DATA, links->region, &tree))
        return false;
    top = tree.region;
    w->region = native_find_in(&tree, w->at);
    if (top && top->incarnation == links->incarnation && w->region &&
        w->region->incarnation == w->incarnation &&
        ends(top, links->given)) {
        w->tree = &tree;
        w->own = w->last = (struct pages){0};
        while (w->region && left > 0)
            if (look_in(w, &left)) {
                w->region = native_next_covered(top, w->region);
                w->words = (struct heap_words){0};
            }
        more = w->region;
        w->at = more ? w->region->address : 0;
        w->incarnation = more ? w->region->incarnation : 0;
    }
    native_unlock(&tree);
    w->left -= PIECE_WORDS - left;
    return more;
}

void native_links_look(drasync_region_t region, bool gives)
{
    struct check_links *links;
    struct walk *w;

    if (!native_address_valid(region))
        return;
    links = calloc(1, sizeof(*links));
    w = calloc(1, sizeof(*w));
    /* Without memory less is said. */
    if (links && w) {
        links->given = gives;
        if (begin((uint64_t)(uintptr_t)region, links) &&
            check_links_wanted(links->root, links->root_incarnation)) {
            w->links = links;
            w->at = links->region;
            w->incarnation = links->incarnation;
            w->left = WORDS_MAX;
            while (!links->cut && piece(w))
                links->cut = w->left <= 0;
            check_links(links);
        }
    }
    free(w);
    free(links);
}
