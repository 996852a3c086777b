/*
 * heap_note.h - what lies behind an object with red zones (heap_checked.h): the
 * pattern that nobody may write, and the note at the slot's end.  Private to
 * memory/.
 *
 * Callers guarantee what heap_checked.h asks for.  What lies in the region is
 * believed only as far as a note's check sum is right.
 */
#ifndef MEMORY_HEAP_NOTE_H
#define MEMORY_HEAP_NOTE_H

#include "memory/heap_checked.h"
#include "memory/heap_extent.h"

#define HEAP_NOTE_LIVE  UINT64_C(0x6c697665)
#define HEAP_NOTE_FREED UINT64_C(0x66726565)

/* At the end of each slot. */
struct heap_note {
    uint64_t check;
    uint64_t state;
    uint64_t bytes; /* of the object */
    struct heap_who made, freed;
    uint64_t next; /* in the queue; 0: last */
};

_Static_assert(sizeof(struct heap_note) == 48,
               "slots are multiples of 16 bytes");

struct heap_slot {
    uint64_t address, bytes;
    struct place place;
    bool taken;
};

/* The slot that begins at @ptr, taken or free, which is opened (marks.h).  As
 * heap_free(). */
int heap_note_slot(const struct heap_checked *c, const void *ptr,
                   struct heap_slot *slot);

/* Its note, which is one if heap_note_whole() says so.  For slots that have more
 * bytes than a note. */
struct heap_note *heap_note_of(const struct heap_checked *c,
                               const struct heap_slot *slot);
bool heap_note_whole(const struct heap_checked *c, const struct heap_slot *slot,
                     const struct heap_note *note);

/* The note has changed: let it be whole. */
void heap_note_seal(const struct heap_checked *c, const struct heap_slot *slot,
                    struct heap_note *note);

/* Let all bytes of the slot from @from up to the note be @byte. */
void heap_note_fill(const struct heap_checked *c, const struct heap_slot *slot,
                    uint64_t from, int byte);

/* Add @fault, of that object, to what is wrong. */
void heap_note_fault(const struct heap_checked *c, const struct heap_slot *slot,
                     const struct heap_note *note, struct heap_fault *fault);

/* The note of a taken slot is not whole: that is a fault; make one anew. */
void heap_note_mend(const struct heap_checked *c, const struct heap_slot *slot,
                    struct heap_note *note);

/* Is the pattern there, behind an object, or in one that was freed, of which the
 * heap may have the first @from bytes?  If not that is a fault; mend it. */
void heap_note_look_live(const struct heap_checked *c,
                         const struct heap_slot *slot,
                         const struct heap_note *note);
void heap_note_look_freed(const struct heap_checked *c,
                          const struct heap_slot *slot,
                          const struct heap_note *note, uint64_t from);

/* Has an object, one that is there, an address that points out?  That is a fault,
 * one for each object. */
void heap_note_look_words(const struct heap_checked *c,
                          const struct heap_slot *slot,
                          const struct heap_note *note);

/* Close of @slot what is no object's (marks.h). */
void heap_note_mark(const struct heap_checked *c, const struct heap_slot *slot);

#endif
