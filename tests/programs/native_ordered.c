/*
 * Ranks take two parts of a region for WRITE, in the order in which these were
 * made, or READ the whole, at random: nobody waits in a ring, no count is lost,
 * and who READs sees both parts as they were at one moment.
 *
 * native_ordered SEED
 */
#include "native_check.h"

#define ROUNDS 1500

struct shared {
    drasync_region_t whole, part[2];
    uint64_t *count[2];
};

static struct shared made(void)
{
    struct shared s = {0};

    if (check_rank == 0) {
        OK(drasync_new_region(&s.whole));
        for (int i = 0; i < 2; i++) {
            void *v;

            OK(drasync_new_subregion(s.whole, &s.part[i]));
            OK(drasync_alloc(s.part[i], sizeof(*s.count[i]), &v));
            s.count[i] = v;
            *s.count[i] = 0;
        }
        OK(drasync_release(s.whole));
    }
    MPI_Bcast(&s, sizeof(s), MPI_BYTE, 0, MPI_COMM_WORLD);
    return s;
}

static void write_both(const struct shared *s)
{
    for (int i = 0; i < 2; i++)
        OK(drasync_acquire(s->part[i], DRASYNC_WRITE));
    for (int i = 0; i < 2; i++)
        ++*s->count[i];
    for (int i = 2; i-- > 0;)
        OK(drasync_release(s->part[i]));
}

static uint64_t read_whole(const struct shared *s)
{
    uint64_t count;

    OK(drasync_acquire(s->whole, DRASYNC_READ));
    count = *s->count[0];
    CHECK(count == *s->count[1]);
    OK(drasync_release(s->whole));
    return count;
}

int main(int argc, char **argv)
{
    uint64_t mine = 0, all = 0, seen = 0;
    struct shared s;

    check_start(&argc, &argv);
    CHECK(argc > 1);
    s = made();
    srand((unsigned)(atoi(argv[1]) * 100 + check_rank));
    for (int i = 0; i < ROUNDS; i++) {
        if (rand() % 2) {
            write_both(&s);
            mine++;
        } else {
            uint64_t now = read_whole(&s);

            CHECK(now >= mine && now >= seen);
            seen = now;
        }
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(read_whole(&s) == all);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(s.whole));
    return check_end("ordered");
}
