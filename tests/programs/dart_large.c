/*
 * dart_large GIB [private | refused]: more than so many GiB, in one transfer and one
 * atomic operation on as many bytes, from and to buffers that are the same 64 MiB
 * again and again; transfers to private memory too, or one of which MPI refuses a
 * part.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "dart_check.h"

#define PIECE ((size_t)64 << 20)

static size_t bytes; /* in all */

/* The n-th of the 64-bit numbers that a piece is made of. */
static uint64_t number(size_t n)
{
    return (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The same memory all over. */
static char *buffer_new(int file)
{
    char *all = mmap(NULL, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert(all != MAP_FAILED);
    for (size_t at = 0; at < bytes; at += PIECE)
        assert(mmap(all + at, PIECE, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, file, 0) == all + at);
    return all;
}

static void fill(char *buffer)
{
    uint64_t *numbers = (uint64_t *)(void *)buffer;

    for (size_t i = 0; i < PIECE / 8; i++)
        numbers[i] = number(i);
}

/* Is the piece, as it lies there, what was filled in, from its @from-th byte? */
static void check(const char *buffer, size_t from)
{
    for (size_t i = from / 8 + 1; i < PIECE / 8 - 1; i += 511) {
        uint64_t expected = number(i), seen;

        memcpy(&seen, buffer + i * 8 - from, 8);
        assert(seen == expected);
    }
}

/* Numbers here and there in another unit's part, up to the last; or 0. */
static void check_there(dart_gptr_t gptr, bool zero)
{
    const size_t at[] = {0, PIECE, (size_t)1 << 30, bytes - PIECE, bytes - 8};

    for (int i = 0; i < 5; i++) {
        uint64_t seen = 0;

        assert(dart_get_blocking(&seen, at_offset(gptr, at[i]), 1,
                                 DART_TYPE_ULONGLONG,
                                 DART_TYPE_ULONGLONG) == DART_OK);
        assert(seen == (zero ? 0 : number(at[i] % PIECE / 8)));
    }
}

static void there(dart_gptr_t gptr, char *buffer)
{
    fill(buffer);
    assert(dart_put_blocking(gptr, buffer, bytes, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    check_there(gptr, false);
}

/* From there, by numbers and strided. */
static void back(dart_gptr_t gptr, char *buffer)
{
    dart_datatype_t every_other;
    dart_handle_t handle;
    int32_t done = 0;

    memset(buffer, 0, PIECE);
    assert(dart_get_handle(buffer, gptr, bytes / 8, DART_TYPE_ULONGLONG,
                           DART_TYPE_ULONGLONG, &handle) == DART_OK);
    while (!done)
        assert(dart_test(&handle, &done) == DART_OK);
    check(buffer, 0);
    /* Blocks of 1 MiB, every other one. */
    assert(dart_type_create_strided(DART_TYPE_BYTE, 2 << 20, 1 << 20,
                                    &every_other) == DART_OK);
    memset(buffer, 0, PIECE);
    assert(dart_get_blocking(buffer, gptr, bytes / 2, every_other,
                             DART_TYPE_BYTE) == DART_OK);
    for (size_t i = 0; i < PIECE / 2; i += 1 << 20)
        assert(!memcmp(buffer + i, &(uint64_t){number(i / 4)}, 8));
    assert(dart_type_destroy(&every_other) == DART_OK);
}

/* Each number by itself with what it is.  Bytes would be eight times as many
 * atomic operations. */
static void updated(dart_gptr_t gptr, char *buffer)
{
    fill(buffer);
    assert(dart_accumulate(gptr, buffer, bytes / 8, DART_TYPE_ULONGLONG,
                           DART_OP_BXOR) == DART_OK);
    check_there(gptr, true);
}

/* MPI's, which refuses the second put if it is told to. */
static int puts_left;
static bool put_open; /* not flushed */

int MPI_Put(const void *from, int count, MPI_Datatype type, int target,
            MPI_Aint at, int there_count, MPI_Datatype there_type, MPI_Win win)
{
    if (puts_left && !--puts_left)
        return MPI_ERR_OTHER;
    put_open = true;
    return PMPI_Put(from, count, type, target, at, there_count, there_type,
                    win);
}

int MPI_Win_flush(int target, MPI_Win win)
{
    put_open = false;
    return PMPI_Win_flush(target, win);
}

/* One that goes in pieces and fails half-way leaves the buffer. */
static void refused(dart_gptr_t gptr, const char *buffer)
{
    dart_handle_t handle;

    puts_left = 2;
    assert(dart_put_handle(gptr, buffer, bytes, DART_TYPE_BYTE, DART_TYPE_BYTE,
                           &handle) == DART_ERR_OTHER);
    assert(!puts_left && !put_open && !handle);
}

int main(int argc, char **argv)
{
    int file = memfd_create("dart_large", MFD_CLOEXEC), last;
    dart_gptr_t gptr = DART_GPTR_NULL;
    char *buffer;

    assert(argc >= 2);
    bytes = ((size_t)atoi(argv[1]) << 30) + PIECE;
    assert(file >= 0 && ftruncate(file, (off_t)PIECE) == 0);
    check_begin();
    last = units - 1;
    buffer = buffer_new(file);
    if (me == last)
        assert(dart_memalloc(bytes, DART_TYPE_BYTE, &gptr) == DART_OK);
    MPI_Bcast(&gptr, sizeof(gptr), MPI_BYTE, last, MPI_COMM_WORLD);
    if (me == 0) {
        there(gptr, buffer);
        back(gptr, buffer);
        updated(gptr, buffer);
        if (argc > 2 && !strcmp(argv[2], "refused"))
            refused(gptr, buffer);
    }
    barrier();
    if (me == last)
        assert(dart_memfree(gptr) == DART_OK);

    /* Private memory, which is as little as the buffer. */
    assert(dart_team_memregister(DART_TEAM_ALL, bytes / 8, DART_TYPE_LONG,
                                 buffer, &gptr) == DART_OK);
    if (argc > 2 && !strcmp(argv[2], "private") && me == 0)
        there(on_unit(gptr, last), buffer);
    barrier();
    assert(dart_team_memderegister(gptr) == DART_OK);
    check_end();
    return 0;
}
