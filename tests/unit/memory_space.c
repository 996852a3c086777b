/* The address range, the locks, the control heap and the limit. */
#include "memory_common.h"
#include "memory_look.h"

#include "memory/lock.h"
#include "memory/os.h"
#include "memory/shared.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void sizes(void)
{
    struct space_layout layout;

    tap_ok(space_layout_for(63 * MIB, &layout) == DRASYNC_EINVAL &&
               space_layout_for(32 * MIB, &layout) == DRASYNC_EINVAL &&
               space_layout_for(32 * GIB << 10, &layout) == DRASYNC_EINVAL,
           "spaces are powers of two between 64 MiB and 16 TiB");
    tap_ok(!space_layout_for(0, &layout) &&
               layout.alternate_bytes == layout.data_bytes / 4,
           "there is a default");
}

static void conversions(const struct space *space)
{
    char *base = space->base;

    tap_ok(space_page(space, base) == 0 &&
               space_page(space, base + PAGE_BYTES) == 1 &&
               space_page(space, base + PAGE_BYTES - 1) == 0 &&
               space_page(space, base - 1) == SPACE_NO_PAGE &&
               space_page(space, base + space->layout.data_bytes) ==
                   SPACE_NO_PAGE &&
               space_page(space, NULL) == SPACE_NO_PAGE,
           "address to page");
    tap_ok(space_address(space, 3) == base + 3 * PAGE_BYTES &&
               !space_address(space, space->pages) &&
               !space_address(space, UINT64_MAX),
           "page to address");
    tap_ok(space_window(space, 5, 1) == space->window + 5 &&
               !space_window(space, UINT64_MAX, 1) &&
               !space_window(space, 8, UINT64_MAX - 4) &&
               !space_window(space,
                             space->layout.data_bytes +
                                 space->layout.alternate_bytes,
                             1) &&
               space_window_of(space, base + 9) == space->window + 9 &&
               !space_window_of(space, space->window),
           "file offset to window");
    tap_ok(!space_run_valid(space, 0, 1) && space_run_valid(space, 1, 1) &&
               !space_run_valid(space, 1, 0) &&
               !space_run_valid(space, 1, UINT64_MAX) &&
               !space_run_valid(space, space->pages - 1, 2) &&
               space_run_valid(space, space->pages - 1, 1),
           "runs are checked");
    tap_ok(space_pages_for(0) == 0 && space_pages_for(1) == 1 &&
               space_pages_for(PAGE_BYTES) == 1 &&
               space_pages_for(UINT64_MAX) == (uint64_t)1 << 52,
           "bytes to pages, without overflow");
}

static void mapping(void)
{
    struct space_layout layout;
    struct space space;
    uintptr_t addresses[SPACE_CANDIDATES_MAX];
    uint32_t mask, less;
    char line[OS_LINE_BYTES] = "x";
    int count, first, data_fd, control_fd;
    void *obstacle;

    REQUIRE(!space_layout_for(64 * MIB, &layout));
    count = space_candidates(&layout, addresses);
    tap_ok(count > 3 && addresses[0] == (uintptr_t)64 << 30,
           "small spaces have low candidates first");
    REQUIRE(!space_probe(&layout, &mask, line, sizeof(line)) && mask);
    first = __builtin_ctz(mask);
    obstacle = mmap((void *)(addresses[first] + 128 * MIB), 4096, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(obstacle != MAP_FAILED);
    tap_ok(!space_probe(&layout, &less, line, sizeof(line)) &&
               less == (mask & (mask - 1)) && line[0],
           "a candidate with something in it is not free");
    REQUIRE(!space_files_new(&layout, &data_fd, &control_fd));
    line[0] = 0;
    tap_ok(space_map(&space, &layout, first, data_fd, control_fd, line,
                     sizeof(line)) == DRASYNC_EADDRESS &&
               strstr(line, "r--p"),
           "mapping there fails, and shows the line that is in the way");
    munmap(obstacle, 4096);
    tap_ok(!space_probe(&layout, &less, NULL, 0) && less == mask,
           "and leaves nothing behind");
    tap_ok(space_map(&space, &layout, -1, data_fd, control_fd, NULL, 0) ==
                   DRASYNC_EINVAL &&
               space_map(&space, &layout, count, data_fd, control_fd, NULL,
                         0) == DRASYNC_EINVAL,
           "only candidates can be mapped");
    tap_ok(!space_map(&space, &layout, first, data_fd, control_fd, line,
                      sizeof(line)) &&
               (uintptr_t)space.base == addresses[first],
           "a free one can");
    tap_ok(control_check(&space) == DRASYNC_EINTERNAL &&
               !control_create(&space, 0, 1, 0) && !control_check(&space),
           "the header says whether it is there");
    conversions(&space);
    node_close(&space);
}

static void full_size(void)
{
    struct space space;
    char *user;
    uint64_t i;
    int clear = 1;

    node_open(&space, 0, 1, 4, 0);
    user = control_user(&space);
    for (i = 0; i < CONTROL_USER_BYTES; i++)
        clear = clear && !user[i];
    tap_ok(clear && (uintptr_t)user % PAGE_BYTES == 0,
           "a space of the default size, with the runtime's area");
    tap_ok(limit_used_bytes(&space) < 16 * MIB, "costs little at first");
    node_close(&space);
}

static void *lock_and_die(void *arg)
{
    REQUIRE(!lock_take(arg));
    return NULL;
}

static int add_under_lock(const struct space *space, int index)
{
    struct {
        struct lock lock;
        uint64_t count;
    } *user = control_user(space);
    int i;

    (void)index;
    for (i = 0; i < 20000; i++) {
        if (lock_take(&user->lock))
            return 1;
        user->count++;
        lock_give(&user->lock);
    }
    return 0;
}

static int die_with_lock(const struct space *space, int index)
{
    struct lock *lock = control_user(space);

    (void)index;
    return lock_take(lock);
}

static void locks(void)
{
    struct space space;
    struct lock *lock;
    pthread_t thread;

    node_open(&space, 64 * MIB, 0, 1, 0);
    lock = control_user(&space);
    REQUIRE(!lock_init(lock, 5, control_poison_flag(&space)));
    tap_ok(in_processes(&space, 4, add_under_lock) &&
               *(uint64_t *)(lock + 1) == 80000,
           "a lock keeps four processes apart");
    REQUIRE(!lock_take(lock));
    tap_ok(lock_held_count() == (LOCK_CHECKED ? 1 : -1), "it is held");
    lock_give(lock);
    REQUIRE(!pthread_create(&thread, NULL, lock_and_die, lock) &&
            !pthread_join(thread, NULL));
    tap_ok(lock_try(lock) == DRASYNC_EPEER && lock_take(lock) == DRASYNC_EPEER,
           "a holder that ended is noticed");
    tap_ok(control_poisoned(&space), "and the node knows");
    pthread_mutex_destroy(&lock->mutex);
    node_close(&space);

    node_open(&space, 64 * MIB, 0, 1, 0);
    lock = control_user(&space);
    REQUIRE(!lock_init(lock, 5, control_poison_flag(&space)));
    REQUIRE(in_processes(&space, 1, die_with_lock));
    tap_ok(!control_poisoned(&space) && lock_take(lock) == DRASYNC_EPEER &&
               lock_take(lock) == DRASYNC_EPEER &&
               lock_try(lock) == DRASYNC_EPEER &&
               lock_try(lock) == DRASYNC_EPEER && control_poisoned(&space),
           "so is a process that died");
    node_close(&space);
}

static int wrong_order(const struct space *space, int index)
{
    struct lock *locks = control_user(space);

    if (!freopen("/dev/null", "w", stderr))
        return 0;
    lock_take(&locks[index == 0]);
    lock_take(&locks[index != 0]);
    return 0;
}

static void lock_order(void)
{
    struct space space;
    struct lock *locks;

    if (!LOCK_CHECKED) {
        tap_skip("taking locks in the wrong order is noticed",
                 "only builds with sanitizers or -DDRASYNC_DEBUG check it");
        return;
    }
    node_open(&space, 64 * MIB, 0, 1, 0);
    locks = control_user(&space);
    REQUIRE(!lock_init(&locks[0], 5, NULL) && !lock_init(&locks[1], 6, NULL));
    tap_ok(!in_processes(&space, 1, wrong_order),
           "taking locks in the wrong order is noticed");
    REQUIRE(!lock_init(&locks[0], 5, NULL) && !lock_init(&locks[1], 6, NULL));
    REQUIRE(!lock_take(&locks[0]) && !lock_take(&locks[1]));
    lock_give(&locks[0]);
    lock_give(&locks[1]);
    tap_ok(!lock_held_count(), "the right order is fine");
    node_close(&space);
}

static void control_objects(void)
{
    static void *ptrs[64];
    struct space space;
    struct control_stats stats;
    void *a, *b;
    uint64_t used;
    size_t size;
    int i = 0, good = 1;

    node_open(&space, 64 * MIB, 0, 1, 0);
    for (size = 0; size <= 4 * MIB; size = size * 5 / 4 + 1) {
        REQUIRE(i < 64 && !control_alloc(&space, size, &ptrs[i]));
        good = good && (uintptr_t)ptrs[i] % CONTROL_ALIGN_BYTES == 0 &&
               control_usable_bytes(&space, ptrs[i]) >= size &&
               control_usable_bytes(&space, ptrs[i]) <=
                   (size < 64 ? 64 : 2 * size) &&
               control_plausible(&space, ptrs[i], size) &&
               !control_plausible(&space, (char *)ptrs[i] + 1, 1);
        memset(ptrs[i], i + 1, size);
        i++;
    }
    tap_ok(good, "objects of all sizes, aligned");
    for (i = 0, size = 0; size <= 4 * MIB; size = size * 5 / 4 + 1, i++)
        good = good && (!size || (*(char *)ptrs[i] == i + 1 &&
                                  ((char *)ptrs[i])[size - 1] == i + 1));
    tap_ok(good, "that do not overlap");
    while (i--)
        control_free(&space, ptrs[i]);
    control_get_stats(&space, &stats);
    tap_ok(!stats.objects && !stats.object_bytes, "all can be freed");
    REQUIRE(!control_alloc(&space, 1000, &a));
    memset(a, 9, 1000);
    control_free(&space, a);
    REQUIRE(!control_alloc(&space, 800, &b));
    tap_ok(a == b && ((char *)b)[16] == 9 && ((uint64_t *)b)[1] == 0,
           "a slot comes back as it was, but for its first 16 bytes");
    REQUIRE(!control_alloc_zero(&space, 1000, &a));
    for (i = 0; i < 1000; i++)
        good = good && !((char *)a)[i];
    tap_ok(good, "or cleared");
    tap_ok(control_alloc(&space, SIZE_MAX, &a) == DRASYNC_ENOMEM &&
               control_alloc(&space, CONTROL_OBJECT_BYTES_MAX, &a) ==
                   DRASYNC_ENOMEM,
           "what cannot be is refused");
    tap_ok(!control_plausible(&space, NULL, 1) &&
               !control_plausible(&space, &space, 1) &&
               !control_plausible(&space, space.control, 1) &&
               !control_plausible(&space, (void *)UINTPTR_MAX, 1) &&
               !control_usable_bytes(&space, &good),
           "what is no object is not taken for one");
    used = limit_used_bytes(&space);
    REQUIRE(!control_alloc(&space, 8 * MIB, &a));
    memset(a, 1, 8 * MIB);
    control_free(&space, a);
    tap_ok(limit_used_bytes(&space) - used <= 2 * PAGE_BYTES,
           "large objects give their memory back");
    limit_set(&space, limit_used_bytes(&space) + MIB);
    tap_ok(control_alloc(&space, 8 * MIB, &a) == DRASYNC_ENOMEM &&
               control_alloc(&space, 2 * MIB, &a) == DRASYNC_ENOMEM,
           "without memory they are refused");
    limit_set(&space, GIB);
    tap_ok(!control_alloc(&space, 8 * MIB, &b) && ((char *)b)[4 * MIB] == 0,
           "until there is some");
    node_close(&space);
}

static int churn(const struct space *space, int index)
{
    uint32_t *ptrs[32] = {0};
    uint32_t random = (uint32_t)index + 1;
    void *ptr;
    int i;

    for (i = 0; i < 30000; i++) {
        uint32_t at;

        random = random * 1664525 + 1013904223;
        at = random >> 27;
        if (ptrs[at]) {
            if (*ptrs[at] != (uint32_t)index)
                return 1;
            control_free(space, ptrs[at]);
            ptrs[at] = NULL;
        } else {
            if (control_alloc(space, random >> 8 & 1023, &ptr))
                return 1;
            ptrs[at] = ptr;
            *ptrs[at] = (uint32_t)index;
        }
    }
    for (i = 0; i < 32; i++)
        control_free(space, ptrs[i]);
    return 0;
}

static int die_in_heap(const struct space *space, int index)
{
    struct shared *shared = shared_of(space);

    (void)index;
    return lock_take(&shared->heap.classes[0].lock);
}

static void control_processes(void)
{
    struct space space;
    struct control_stats stats;
    void *ptr;

    node_open(&space, 64 * MIB, 0, 1, 0);
    tap_ok(in_processes(&space, 4, churn),
           "four processes use the control heap at once");
    control_get_stats(&space, &stats);
    tap_ok(!stats.objects, "and lose nothing");
    REQUIRE(in_processes(&space, 1, die_in_heap));
    tap_ok(control_alloc(&space, 8, &ptr) == DRASYNC_EPEER &&
               control_poisoned(&space),
           "if one dies inside, the others are told");
    node_close(&space);
}

static void limits(void)
{
    struct space space;
    uint64_t limit = limit_default_bytes();

    tap_ok(limit > 0 && limit <= os_memory_bytes() &&
               os_cgroup_limit_bytes() >= limit && os_available_bytes() > 0,
           "the machine says how much memory there is");
    node_open(&space, 64 * MIB, 0, 1, 0);
    tap_ok(limit_bytes(&space) == limit, "which is the limit");
    tap_ok(limit_charge(&space, UINT64_MAX, LIMIT_FOR_DATA) == DRASYNC_ENOMEM &&
               limit_charge(&space, limit, LIMIT_FOR_DATA) == DRASYNC_ENOMEM,
           "more is refused");
    limit_set(&space, UINT64_MAX / 2);
    tap_ok(limit_charge(&space, (uint64_t)1 << 50, LIMIT_FOR_DATA) ==
               DRASYNC_ENOMEM,
           "also if the user's limit is more than there is");
    limit_set(&space, 100 * MIB);
    tap_ok(!limit_charge(&space, 90 * MIB, LIMIT_FOR_DATA) &&
               limit_charge(&space, 20 * MIB, LIMIT_FOR_DATA) == DRASYNC_ENOMEM,
           "the user's own limit holds");
    REQUIRE(!limit_charge(&space, limit_room_bytes(&space), LIMIT_FOR_DATA));
    tap_ok(limit_room_bytes(&space) == 0 &&
               limit_charge(&space, 1, LIMIT_FOR_CONTROL) == DRASYNC_ENOMEM,
           "what is full is full for control memory too");
    limit_reserve_enter();
    tap_ok(limit_charge(&space, 1, LIMIT_FOR_DATA) == DRASYNC_ENOMEM &&
               !limit_charge(&space, 3 * MIB, LIMIT_FOR_CONTROL),
           "but for those who give back");
    tap_ok(limit_charge(&space, MIB, LIMIT_FOR_CONTROL) == DRASYNC_ENOMEM &&
               limit_used_bytes(&space) <= 100 * MIB,
           "whose reserve ends at the limit");
    limit_reserve_leave();
    node_close(&space);
    tap_ok(!space_layout_for(64 * MIB, &space.layout) &&
               os_range_taken((uintptr_t)&limit, (uintptr_t)&limit + 1, NULL,
                              0) == 1,
           "what is mapped is seen as taken");
}

static void descriptors(void)
{
    struct space_layout layout;
    struct rlimit old, none = {0, 0};
    int data_fd, control_fd, err;

    REQUIRE(!space_layout_for(64 * MIB, &layout));
    REQUIRE(!getrlimit(RLIMIT_NOFILE, &old));
    none.rlim_max = old.rlim_max;
    REQUIRE(!setrlimit(RLIMIT_NOFILE, &none));
    err = space_files_new(&layout, &data_fd, &control_fd);
    REQUIRE(!setrlimit(RLIMIT_NOFILE, &old));
    tap_ok(err == DRASYNC_ELIMIT, "running out of descriptors is an error");
}

int main(void)
{
    sizes();
    mapping();
    full_size();
    locks();
    lock_order();
    control_objects();
    control_processes();
    limits();
    descriptors();
    return tap_end();
}
