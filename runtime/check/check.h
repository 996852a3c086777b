/*
 * check.h - checked mode (DRASYNC_CHECK): a process's mapping of regions
 * follows the holds of its rank, and a touch that no hold allows is reported
 * with who did what, and where.
 *
 * native/ says what holds allow (check_allow()) and what was done by the
 * program's calls (check_event()); the module keeps where that was, catches
 * SIGSEGV and writes the report.  It knows no protocol: what a region is, and
 * who has it, native/ tells it when asked (check_on_look()).
 *
 * Callers guarantee that they call nothing here unless `check.words` says so:
 * so nothing is added to a run that checks nothing.  Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_CHECK_CHECK_H
#define DRASYNC_RUNTIME_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/heap_checked.h"

/* The Myrmics front is in another library, and this one exports drasync_ only.
 */
#define check_sent     drasync_check_sent
#define check_numbered drasync_check_numbered

/* What the program did with a region; the last of each kind is kept. */
enum check_what {
    CHECK_MADE,
    CHECK_TOOK,
    CHECK_GAVE,
    CHECK_DELETED,
    CHECK_KINDS,
    CHECK_GIVEN = CHECK_KINDS, /* as CHECK_GAVE, to another rank */
};

/* Keep that the calling thread did this now, and its stack.  @mode: of a hold.
 * Without memory for it less is said later. */
void check_event(enum check_what what, uint64_t address, uint64_t incarnation,
                 enum drasync_mode mode);

/* The region is published, or was looked up, as @name. */
void check_named(drasync_region_t region, const char *name);

/* DRASYNC_MYRMICS=move: the program calls @region, made or received here, number
 * @rid. */
void check_numbered(drasync_region_t region, uint32_t rid);

/* DRASYNC_MYRMICS=move: region @rid at @address goes to worker @to, by a call
 * at @file (which stays) and @line. */
void check_sent(drasync_region_t region, uint32_t rid, int to, const char *file,
                int line);

/* This process may use pages [first, first + pages) for @mode from now on; 0:
 * not at all. */
void check_allow(uint64_t first, uint64_t pages, int mode);

/* Pages of a region that is being deleted, for reports. */
void check_gone(uint64_t first, uint64_t pages, uint64_t address,
                uint64_t incarnation);

/* Regions of another kind are used, whose pages no hold guards: all pages that
 * no native hold closes from now on are open. */
void check_open_all(void);

/* The rank's holds are about to end: those that it did not release are leaks,
 * whatever becomes of their regions meanwhile. */
void check_holds_left(void);

/* --- Handles (handles.c) -------------------------------------------------- */

/* @call was refused with @err: if that is about @region, which this rank deleted,
 * or does not hold, or which is none, say so with what is known of it; once for
 * each place of the program. */
void check_refused(const char *call, drasync_region_t region, int err);
/* The same with any @err; @what is true of the region, if it is there; NULL: what
 * @err says of it. */
void check_refused_as(const char *call, drasync_region_t region, int err,
                      const char *what);
/* The same of a call that needs WRITE of @region, unless this rank has that. */
void check_unwritable(const char *call, drasync_region_t region, int err);
/* @call was refused with @err as there is no object at @ptr: say what is there;
 * nothing of an object that was freed. */
void check_no_object(const char *call, const void *ptr, int err);
/* DRASYNC_EUPGRADE, if this rank holds @region for READ indeed. */
void check_upgrade(const char *call, drasync_region_t region);
/* What is newer was asked for, and this rank has, or had, @region otherwise. */
void check_nested(const char *call, drasync_region_t region);
/* It was to be given, and is, or a part of it or what is above it, held again. */
void check_held_again(const char *call, drasync_region_t region);

/* This thread gives back a hold for @mode that another one took. */
void check_other_thread(uint64_t address, uint64_t incarnation,
                        enum drasync_mode mode);

/* @request asks for @region for @mode now; what never ends is a leak. */
void check_request_begins(const void *request, drasync_region_t region,
                          enum drasync_mode mode);
/* @request has ended with @call. */
void check_request_ends(const char *call, const void *request);
/* False, with a report, if @request has ended. */
bool check_request_valid(const char *call, const void *request);

/* --- Objects (objects.c), with OPTIONS_CHECK_OBJECTS ---------------------- */

/* What found something wrong. */
enum check_when {
    CHECK_AT_ALLOC,
    CHECK_AT_FREE,
    CHECK_AT_RELEASE,
    CHECK_AT_DELETE,
    CHECK_AT_SEND,
    CHECK_AT_END, /* of the job, of what is held then */
};

/* The calling thread, for heaps to note. */
struct heap_who check_who(void);

/* Where the objects are. */
struct check_region {
    uint64_t address, incarnation; /* of a native region; address 0: none, */
    uint32_t rid;                  /* but this Myrmics region */
};

/* What a walk that is for @when is to ask of words (heap_checked.h); NULL:
 * nothing, as OPTIONS_CHECK_POINTERS is not wanted, or nobody else will see the
 * region (pointers.c).  For one walk. */
heap_points_out_fn *check_pointers(enum check_when when);

/* @root is @region's now: with OPTIONS_CHECK_POINTERS report one that other
 * ranks do not have, and end the job or go on. */
void check_root(drasync_region_t region, const void *root);

/* Report what a call of @who found, and end the job or go on.  @may_ask: other
 * nodes may be asked, that is this is not the progress thread.  No lock is
 * held. */
void check_objects(const struct heap_faults *faults,
                   const struct check_region *region, enum check_when when,
                   struct heap_who who, bool may_ask);

/* --- Links (links.c), with OPTIONS_CHECK_LINKS ---------------------------- */

/* Regions that one release may lead to; what comes after them is not asked. */
#define CHECK_LINKS_MAX 1024

/* The first address in a region, or in a page of which this node does not know
 * whose it is. */
struct check_target {
    uint64_t word;
    uint64_t region, incarnation; /* where it is: region, object, byte */
    uint64_t object, object_bytes, at;
    struct heap_who made;
    /* What is answered: the root region that it leads to, which is managed, and to
     * which there is no link. */
    uint64_t to, to_incarnation;
    bool forgotten;
};

/* What a WRITE hold of @region, which ends, leaves in that and below. */
struct check_links {
    uint64_t region, incarnation;
    uint64_t root, root_incarnation; /* which has the links */
    bool given;                      /* the hold is, to another rank */
    bool cut, full; /* there was more to look at; more than targets */
    bool many;      /* answered: the root has more links than are looked at */
    uint32_t count;
    struct check_target target[CHECK_LINKS_MAX];
};

/* May the root region be a managed one? */
bool check_links_wanted(uint64_t root, uint64_t incarnation);
/* Ask which of these links are forgotten, report them, and end the job or go on.
 * No lock is held. */
void check_links(struct check_links *links);

/* Managed regions' answers; they may ask other nodes. */
typedef bool check_links_wanted_fn(uint64_t root, uint64_t incarnation);
typedef void check_links_fn(struct check_links *links);
void check_on_links(check_links_wanted_fn *wanted, check_links_fn *forgotten);

/* --- What native/ is asked ------------------------------------------------ */

#define CHECK_HOLDERS_MAX 8

/* What native/ knows of an address. */
struct check_place {
    uint64_t region, incarnation;  /* 0: it belongs to no native region */
    bool foreign;                  /* but to another user of the pages */
    int held;                      /* 0, READ or WRITE: by this process */
    int node;                      /* which owns the region, as far as known */
    uint64_t object, object_bytes; /* that it is in; 0: none */
    uint64_t part;    /* a subregion of it that this rank holds; 0: none */
    uint64_t busy;    /* a subregion that another rank of the node holds; 0 */
    uint64_t through; /* the one above whose hold covers it; 0: none */
    uint32_t holders; /* on this node, and */
    struct {
        int rank, mode;
    } holder[CHECK_HOLDERS_MAX];
};

/* Called on the checking thread, which holds no lock: fill @out.  If the holds
 * of this rank allow @mode, let the mapping follow them once more. */
typedef void check_look_fn(const void *address, int mode,
                           struct check_place *out);
void check_on_look(check_look_fn *look);

/* At the end, when this rank makes and deletes no regions: put the root region
 * that this one is below, or it itself, in its place; false: it is not there any
 * more. */
typedef bool check_top_fn(uint64_t *address, uint64_t *incarnation);
void check_on_top(check_top_fn *top);

/* Does this root region end by itself? */
typedef bool check_managed_fn(uint64_t address, uint64_t incarnation);
void check_on_managed(check_managed_fn *managed);

/* In a signal's handler: is what this thread does the library's own? */
typedef bool check_inside_fn(void);
void check_on_inside(check_inside_fn *inside);

#endif /* DRASYNC_RUNTIME_CHECK_CHECK_H */
