/* grow.h - arrays that get longer. */
#ifndef DRASYNC_MEMORY_GROW_H
#define DRASYNC_MEMORY_GROW_H

#include <stddef.h>
#include <stdlib.h>

/*
 * @array, of malloc(), which holds @count elements of @size bytes and has room
 * for *@room, with room for one more; it may have moved.  NULL: there is no
 * memory, and all is as it was.
 */
static inline void *room_for_one(void *array, size_t count, size_t *room,
                                 size_t size)
{
    size_t more = *room ? *room * 2 : 16;
    void *grown = array;

    if (count == *room) {
        grown = realloc(array, more * size);
        if (grown)
            *room = more;
    }
    return grown;
}

#endif
