/*
 * search.h - circles of managed regions that have parts of several homes: what
 * nodes say of their entries (references.h), and what of that is garbage.  The
 * pure part of runtime/managed/far*.c, which sim/ runs too.
 *
 * Who searches asks every node for *records* of its entries, at any time of each
 * (refs_record_write()), then has the entries of what looks like garbage
 * *frozen*, if they have not changed since (refs_freeze()).  There was a moment
 * after the last record was written and before the first entry was frozen at
 * which all that are frozen were as their records say.  A region of which an
 * entry has changed lives, and what it reaches by the links that were seen.  So
 * all that refers to the rest, and all that this refers to, was seen as it was at
 * that moment: it was garbage then.  And it still is: a frozen entry gives no
 * reference away.  Changes elsewhere in the job do not matter.  Only calls for a
 * reference to a frozen region wait.
 * (The double collect of snapshots; marking as in circles.c.)
 *
 * What a record must say, so that it can be relied on:
 *   - A node's count of references to a region holds those of its ranks and of
 *     links of its own regions.  A region is garbage if all counts of all nodes
 *     are accounted for by links of garbage.
 *   - The home lists a node for just as many as that node says it was told of;
 *     else a reference may be on its way, and the region is taken for live.
 *   - A region that only some nodes sent records of, or one of them twice, is
 *     taken for live.
 *
 * Holds are the caller's: it takes what it found for WRITE, so that no hold
 * begins, asks all nodes who READs it, and spares that (refs_spare()).  Then
 * entries of what ends are doomed, at all nodes, and links between them cut.
 *
 * Callers guarantee what references.h says; calls with one entry are made under
 * its lock.
 */
#ifndef DRASYNC_PROTOCOL_SEARCH_H
#define DRASYNC_PROTOCOL_SEARCH_H

#include "protocol/references.h"

/* --- Records -------------------------------------------------------------- */

struct refs_name {
    uint64_t address, incarnation;
};

struct refs_listing {
    int64_t listed;
    int32_t node;
    int32_t reserved;
};

/* On the wire its links and listings follow. */
struct refs_record {
    uint64_t address, incarnation, stamp;
    int64_t references, told;
    uint32_t links, listings;
    uint32_t home; /* 1 or 0 */
    uint32_t used; /* 1: REFS_USED */
};

/* May @e belong to a circle?  Else nobody asks for its record. */
bool refs_searched(const struct refs_entry *e);

/* The record of @e: how long it is; write it to @to, which is aligned to 8. */
size_t refs_record_bytes(const struct refs_entry *e);
void refs_record_write(const struct refs_entry *e, void *to);

/* What @node sent. */
struct refs_seen {
    const struct refs_record *record;
    int32_t node;
    bool frozen; /* the caller's: its entry is */
    bool live;   /* it does not end; set by refs_search_spare() */
};

/* The record at @from, of which @bytes are there: its length, or 0 if it is
 * none.  *record_out has links and listings behind it. */
size_t refs_record_read(const void *from, size_t bytes,
                        const struct refs_record **record_out);

/* --- Searching ------------------------------------------------------------ */

/* A region of which the home sent a record. */
struct refs_found {
    struct refs_entry entry; /* of all nodes together */
    size_t first, count;     /* its records */
};

struct refs_search {
    struct refs_seen *seen; /* the caller's: all records, */
    size_t count;           /* so many; sorted by refs_search_find() */
    void *room;             /* the caller's: refs_search_room() bytes */

    struct refs_found *found;
    size_t found_count;
    struct refs_link *link;
    size_t *open;
    struct refs_part *part; /* garbage, */
    size_t parts;           /* so many */
};

size_t refs_search_room(const struct refs_search *s);

/* Find s->part.  From here on s->seen is sorted. */
void refs_search_find(struct refs_search *s);

/* The region of a part. */
static inline const struct refs_found *
refs_found_of(const struct refs_part *part)
{
    return (const struct refs_found *)(const void *)part->entry;
}

/* Is all of @part frozen?  If not, it is not to be taken. */
bool refs_search_frozen(const struct refs_search *s,
                        const struct refs_part *part);

/* Parts that are not `taken` live on, and what they reach: part->live, and so
 * are their records. */
void refs_search_spare(struct refs_search *s);

/* Would any region of these, the @count entries of a home, be garbage if what
 * other nodes refer to were not in use, or is one frozen, which a search that
 * began earlier may leave as it is?  Then it pays to search.  @open as for
 * refs_find_garbage(). */
bool refs_suspected(struct refs_part *parts, size_t count, size_t *open);

/* --- At any node ---------------------------------------------------------- */

/* Freeze @e, NULL if there is none, if it is as its record said: it gives no
 * reference away.  False: it has changed. */
bool refs_freeze(struct refs_entry *e, uint64_t stamp);
void refs_thaw(struct refs_entry *e);

/* It ends. */
void refs_doom(struct refs_entry *e);

/* A link to @to, which is doomed as well, is cut. */
void refs_cut(struct refs_entry *to);

#endif /* DRASYNC_PROTOCOL_SEARCH_H */
