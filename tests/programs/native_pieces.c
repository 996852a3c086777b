/*
 * No step hashes or copies more than a piece under a lock, however large the
 * region that is read again: native/delta.h, native/later.h.
 *
 * Linked to the runtime's objects, with its locks, hashes and copies wrapped.
 * The limit is written here anew: it is what the text promises.
 *
 * native_pieces        4 ranks on 2 nodes of 2
 */
#include <stdatomic.h>

#include "native_check.h"

#include "config.h"
#include "memory/frames.h"
#include "memory/lock.h"
#include "memory/os.h"

#define PAGE        4096
#define BLOCKS      4096
#define ROUNDS      6
#define PIECE_BYTES ((size_t)1 << 20)
#define PARTS       16

static _Thread_local int locks;
static _Thread_local size_t under_lock;
static _Thread_local size_t filled_under_lock;
static _Atomic size_t most, hashed, copied, filled; /* of this rank */

static void count(size_t bytes, _Atomic size_t *sum)
{
    size_t before = atomic_load(&most);

    atomic_fetch_add(sum, bytes);
    if (!locks)
        return;
    under_lock += bytes;
    while (under_lock > before &&
           !atomic_compare_exchange_weak(&most, &before, under_lock))
        ;
}

int __real_lock_take(struct lock *lock);
int __wrap_lock_take(struct lock *lock);
void __real_lock_give(struct lock *lock);
void __wrap_lock_give(struct lock *lock);
int __real_frames_copy(const struct space *space, uint64_t to, uint64_t from,
                       uint64_t bytes);
int __wrap_frames_copy(const struct space *space, uint64_t to, uint64_t from,
                       uint64_t bytes);

int __real_os_file_fill(int fd, uint64_t offset, uint64_t bytes);
int __wrap_os_file_fill(int fd, uint64_t offset, uint64_t bytes);

int __wrap_os_file_fill(int fd, uint64_t offset, uint64_t bytes)
{
    atomic_fetch_add(&filled, bytes);
    if (locks)
        filled_under_lock += bytes;
    return __real_os_file_fill(fd, offset, bytes);
}

int __wrap_lock_take(struct lock *lock)
{
    int err = __real_lock_take(lock);

    if (!err && locks++ == 0)
        under_lock = 0;
    return err;
}

void __wrap_lock_give(struct lock *lock)
{
    locks--;
    __real_lock_give(lock);
}

int __wrap_frames_copy(const struct space *space, uint64_t to, uint64_t from,
                       uint64_t bytes)
{
    count(bytes, &copied);
    return __real_frames_copy(space, to, from, bytes);
}

#ifdef HAVE_XXHASH_DISPATCH
#include <xxhash.h>

XXH128_hash_t __real_XXH3_128bits_dispatch(const void *data, size_t bytes);
XXH128_hash_t __wrap_XXH3_128bits_dispatch(const void *data, size_t bytes);

XXH128_hash_t __wrap_XXH3_128bits_dispatch(const void *data, size_t bytes)
{
    count(bytes, &hashed);
    return __real_XXH3_128bits_dispatch(data, bytes);
}
#endif

static void change(unsigned char *object, int round)
{
    for (int i = 0; i < BLOCKS; i += round ? 37 : 1)
        object[(size_t)i * PAGE] = (unsigned char)(i + round);
}

static void verify(const unsigned char *object, int round)
{
    for (int i = 0; i < BLOCKS; i++)
        CHECK(object[(size_t)i * PAGE] ==
              (unsigned char)(i + (i % 37 ? 0 : round)));
}

/* Rank 2 reads again; rank 3, on its node, all the while what was at first. */
static void rounds(drasync_region_t r, unsigned char *object, int from, int to)
{
    for (int round = from; round < to; round++) {
        if (check_rank == 0) {
            OK(drasync_acquire(r, DRASYNC_WRITE));
            change(object, round);
            OK(drasync_release(r));
        }
        check_barrier();
        if (check_rank == 2) {
            OK(drasync_acquire(r, DRASYNC_READ));
            verify(object, round);
            OK(drasync_release(r));
        }
        check_barrier();
    }
}

/* Rank 0 writes while 1, on its node, reads: it goes on in new frames, which
 * are reserved and copied without a lock. */
static void split(drasync_region_t r, unsigned char *object)
{
    size_t before = atomic_load(&filled);

    check_barrier();
    if (check_rank == 1)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        filled_under_lock = 0;
        OK(drasync_acquire(r, DRASYNC_WRITE));
        change(object, 1);
        CHECK(atomic_load(&filled) - before >= (size_t)BLOCKS * PAGE);
        CHECK(filled_under_lock <= PIECE_BYTES);
        OK(drasync_release(r));
    }
    check_barrier();
    if (check_rank == 1) {
        verify(object, 0);
        OK(drasync_release(r));
    }
    check_barrier();
}

/* A tree of parts that each are less than a piece: what was sent of it is noted
 * for who may come again. */
static void parts(void)
{
    drasync_region_t top = NULL, part;
    void *object;

    if (check_rank == 0) {
        OK(drasync_new_region(&top));
        for (int i = 0; i < PARTS; i++) {
            OK(drasync_new_subregion(top, &part));
            OK(drasync_alloc(part, PIECE_BYTES / 4 * 3, &object));
            memset(object, i, PIECE_BYTES / 4 * 3);
        }
        OK(drasync_release(top));
    }
    check_share(&top, 0);
    for (int round = 0; round < 3; round++) {
        if (check_rank == 2) {
            OK(drasync_acquire(top, DRASYNC_READ));
            OK(drasync_release(top));
        }
        check_barrier();
        if (check_rank == 0) {
            OK(drasync_acquire(top, DRASYNC_WRITE));
            OK(drasync_release(top));
        }
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(top));
    check_barrier();
}

int main(int argc, char **argv)
{
    drasync_region_t r = NULL;
    void *object = NULL;

    check_start_threads(&argc, &argv);
    CHECK(check_ranks == 4);
    OK(drasync_init()); /* nothing refers to it from outside */
    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, (size_t)BLOCKS * PAGE, &object));
        change(object, 0);
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    check_share(&object, 0);
    parts();
    split(r, object);
    rounds(r, object, 1, ROUNDS);
    if (check_rank == 3) {
        OK(drasync_acquire(r, DRASYNC_READ));
        verify(object, ROUNDS - 1);
    }
    check_barrier();
    rounds(r, object, ROUNDS, 2 * ROUNDS);
    if (check_rank == 3) {
        verify(object, ROUNDS - 1);
        OK(drasync_release(r));
    }
    check_barrier();
    if (atomic_load(&most) > PIECE_BYTES)
        fprintf(stderr, "rank %d: %zu bytes under a lock\n", check_rank,
                (size_t)atomic_load(&most));
    CHECK(atomic_load(&most) <= PIECE_BYTES);
    /* And it was looked for what changed, and what had not was copied. */
    if (check_rank == 0)
        CHECK(atomic_load(&hashed) > 2 * (size_t)BLOCKS * PAGE);
    if (check_rank == 2)
        CHECK(atomic_load(&copied) > (size_t)BLOCKS * PAGE / 2);
    if (check_rank == 0)
        OK(drasync_delete(r));
    return check_end("pieces");
}
