/*
 * A thread saves a region again and again while another one of its rank writes it,
 * then a part of it: save_threads FILE.  Both get what they ask for, also if the
 * thread that saves holds another region, or has read this one before.  Then a
 * thread of rank 0 that reads the region saves a part of it after rank 1 has
 * written that: it saves what it sees.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "native_check.h"

#define WRITES  400
#define SAVES   3
#define OBJECTS 50
#define WORDS   10000

/* What the thread that saves has done before. */
enum before {
    NOTHING,
    HOLDS_ANOTHER, /* region */
    HAS_READ,      /* the region, which others have written since */
};

static drasync_region_t tree, part, another;
static enum before before;
static char path[4096];
static _Atomic bool ready, over;
static _Atomic int saves;

static void *saves_it(void *unused)
{
    if (before == HOLDS_ANOTHER)
        OK(drasync_acquire(another, DRASYNC_WRITE));
    for (int i = 0; i < 3 && before == HAS_READ; i++) {
        OK(drasync_acquire(tree, DRASYNC_READ));
        OK(drasync_release(tree));
    }
    atomic_store(&ready, true);
    while (!atomic_load(&over)) {
        OK(drasync_save(tree, path));
        atomic_fetch_add(&saves, 1);
    }
    if (before == HOLDS_ANOTHER)
        OK(drasync_release(another));
    return unused;
}

static void writes(drasync_region_t region)
{
    for (int i = 0; i < WRITES || atomic_load(&saves) < SAVES; i++) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        for (volatile int k = 0; k < 10000; k++)
            continue;
        OK(drasync_release(region));
    }
}

static void beside(drasync_region_t region)
{
    pthread_t thread;

    atomic_store(&over, false);
    atomic_store(&ready, false);
    atomic_store(&saves, 0);
    CHECK(!pthread_create(&thread, NULL, saves_it, NULL));
    while (!atomic_load(&ready))
        usleep(1000);
    writes(region);
    atomic_store(&over, true);
    CHECK(!pthread_join(thread, NULL));
}

static void write_beside(void)
{
    OK(drasync_new_region(&another));
    OK(drasync_new_region(&tree));
    OK(drasync_new_subregion(tree, &part));
    for (int i = 0; i < OBJECTS; i++) {
        void *v;

        OK(drasync_alloc(i % 2 ? tree : part, 10000, &v));
        memset(v, i, 10000);
    }
    OK(drasync_release(another));
    OK(drasync_release(tree));
    for (before = NOTHING; before <= HAS_READ; before++) {
        beside(tree);
        beside(part);
    }
    OK(drasync_delete(tree));
    OK(drasync_delete(another));
}

/* Noise, which the file has as it is. */
static void fill(uint64_t *word, uint64_t x)
{
    for (int i = 0; i < WORDS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        word[i] = x;
    }
}

static bool file_has(const uint64_t *word, size_t bytes)
{
    int file = open(path, O_RDONLY);
    struct stat st;
    bool has;
    void *v;

    CHECK(file >= 0 && !fstat(file, &st));
    v = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    CHECK(v != MAP_FAILED);
    has = memmem(v, (size_t)st.st_size, word, bytes);
    munmap(v, (size_t)st.st_size);
    close(file);
    return has;
}

static void *reads_and_saves(void *unused)
{
    OK(drasync_acquire(tree, DRASYNC_READ));
    OK(drasync_release(tree));
    OK(drasync_acquire(tree, DRASYNC_READ)); /* by a lease */
    check_barrier();
    check_barrier(); /* the other rank has written meanwhile */
    OK(drasync_save(part, path));
    OK(drasync_release(tree));
    return unused;
}

static void save_what_is_seen(void)
{
    static uint64_t old[WORDS], new[WORDS];
    uint64_t *data = NULL;
    pthread_t thread;

    fill(old, 88172645463325252u);
    fill(new, 1234567);
    if (check_rank == 0) {
        OK(drasync_new_region(&tree));
        OK(drasync_new_subregion(tree, &part));
        OK(drasync_alloc(part, sizeof(old), (void **)&data));
        memcpy(data, old, sizeof(old));
        OK(drasync_release(tree));
    }
    check_share(&tree, 0);
    check_share(&part, 0);
    check_share(&data, 0);
    if (check_rank == 0) {
        CHECK(!pthread_create(&thread, NULL, reads_and_saves, NULL));
        CHECK(!pthread_join(thread, NULL));
        CHECK(file_has(old, 4096) && !file_has(new, 4096));
    } else {
        check_barrier();
        if (check_rank == 1) {
            OK(drasync_acquire(part, DRASYNC_WRITE));
            memcpy(data, new, sizeof(new));
            OK(drasync_release(part));
        }
        check_barrier();
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(tree));
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    snprintf(path, sizeof(path), "%s.%d", argc > 1 ? argv[1] : "save_threads",
             check_rank);
    write_beside();
    check_barrier();
    save_what_is_seen();
    return check_end("threads");
}
