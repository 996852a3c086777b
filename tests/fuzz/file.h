/*
 * file.h - for targets that read files: fopen() of any name gives a part of the
 * input.  For one file of a program, which is compiled with -Dfopen=fuzz_fopen;
 * --wrap would take libFuzzer's as well.
 */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <errno.h>

#include "tests/fuzz/fuzz.h"

enum { FILES_MAX = 8 };

static struct {
    const uint8_t *data;
    size_t bytes;
} files[FILES_MAX];
static int files_count;

/* NAME.N is part N, any other name part 0. */
FILE *fuzz_fopen(const char *name, const char *mode)
{
    const char *dot = strrchr(name, '.');
    long part = dot ? strtol(dot + 1, NULL, 10) : 0;

    if (part < 0 || part >= files_count) {
        errno = ENOENT;
        return NULL;
    }
    /* An empty one is no memory to fmemopen() elsewhere. */
    if (!files[part].bytes)
        return tmpfile();
    return fmemopen((void *)(uintptr_t)files[part].data, files[part].bytes,
                    mode);
}

/* The parts of an input end with a byte 0xff, which is no text. */
static void files_cut(const uint8_t *data, size_t bytes)
{
    files_count = 0;
    for (bool more = true; more && files_count < FILES_MAX;) {
        const uint8_t *end = memchr(data, 0xff, bytes);
        size_t here = end ? (size_t)(end - data) : bytes;

        files[files_count].data = data;
        files[files_count++].bytes = here;
        more = end != NULL;
        data += here + more;
        bytes -= here + more;
    }
}

#endif
