/*
 * list.h - intrusive lists of the objects of protocol/: a head is a link, whose
 * members are in order from head.next on; an empty one is linked to itself.
 */
#ifndef DRASYNC_PROTOCOL_LIST_H
#define DRASYNC_PROTOCOL_LIST_H

#include "protocol/protocol.h"

#define CONTAINER(link, type, member) \
    ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct proto_link *head)
{
    head->next = head->prev = head;
}

static inline bool list_empty(const struct proto_link *head)
{
    return head->next == head;
}

/* Put @link before @at: at the end if that is the head. */
static inline void list_insert(struct proto_link *at, struct proto_link *link)
{
    link->prev = at->prev;
    link->next = at;
    at->prev->next = link;
    at->prev = link;
}

static inline void list_remove(struct proto_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->next = link->prev = link;
}

/* Append all of @from to @to. */
static inline void list_move_all(struct proto_link *to, struct proto_link *from)
{
    if (list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

#endif
