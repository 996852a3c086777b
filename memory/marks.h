/*
 * marks.h - bytes that a program must not touch, told to what it runs under:
 * AddressSanitizer, if the program was built with it, or valgrind, if its headers
 * were there when this was built.  A touch is then reported at the instruction,
 * reads too.
 *
 * Marks are this process's, on its own addresses.  Whoever closes bytes opens
 * them before anybody may use them again, or the library touches them.
 */
#ifndef MEMORY_MARKS_H
#define MEMORY_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* Does somebody look at marks?  Without, the others do nothing. */
bool marks_wanted(void);

/* Is it valgrind's memcheck?  That notes each page of what is mapped. */
bool marks_memcheck(void);

void marks_close(void *at, size_t bytes);
void marks_open(void *at, size_t bytes);

#endif
