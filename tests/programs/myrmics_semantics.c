/*
 * myrmics_semantics [steps=N] NAME...: run these scenarios, or all that should end
 * well for "all"; --list names them.  Worker 0 prints "ok NAME" for each.  Error
 * scenarios end the job when all is as it should be.  In "churn" each worker takes
 * N steps, and "many_regions" has half as many, up to 10,000.
 */
#include "myrmics_semantics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 7

int me, workers, steps = 20000;

void check_failed(const char *file, int line, const char *text)
{
    fprintf(stderr, "worker %d: %s:%d: not true: %s\n", me, file, line, text);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}

void tell(int worker, const void *bytes, size_t size)
{
    if (worker != me)
        MPI_Send(bytes, (int)size, MPI_BYTE, worker, TAG, MPI_COMM_WORLD);
}

void hear(int worker, void *bytes, size_t size)
{
    if (worker != me)
        MPI_Recv(bytes, (int)size, MPI_BYTE, worker, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

void share(int from, void *bytes, size_t size)
{
    int i;

    if (me != from) {
        hear(from, bytes, size);
        return;
    }
    for (i = 0; i < workers; i++)
        tell(i, bytes, size);
}

void transfer(rid_t region, int from, int to)
{
    if (from == to)
        return;
    if (me == from)
        sys_send(region, to);
    if (me == to)
        CHECK(sys_recv(region, from) == region);
}

static uint64_t pattern(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;

    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

void fill(void *memory, size_t size, uint64_t seed)
{
    unsigned char *bytes = memory;
    size_t i;

    for (i = 0; i + 8 <= size; i += 8) {
        uint64_t value = pattern(seed, i);

        memcpy(bytes + i, &value, 8);
    }
    for (; i < size; i++)
        bytes[i] = (unsigned char)pattern(seed, i);
}

int filled(const void *memory, size_t size, uint64_t seed)
{
    const unsigned char *bytes = memory;
    uint64_t value;
    size_t i;

    for (i = 0; i + 8 <= size; i += 8) {
        memcpy(&value, bytes + i, 8);
        if (value != pattern(seed, i))
            return 0;
    }
    for (; i < size; i++)
        if (bytes[i] != (unsigned char)pattern(seed, i))
            return 0;
    return 1;
}

int is_aligned(const void *ptr)
{
    return ptr && (uintptr_t)ptr % 64 == 0;
}

void check_apart(void **mine, int count, size_t size)
{
    void *all[8 * 64], *theirs[64];
    int i, j, total = 0;

    CHECK(count <= 64 && workers <= 8);
    if (me != 0)
        tell(0, mine, (size_t)count * sizeof *mine);
    for (i = 0; me == 0 && i < workers; i++) {
        memcpy(theirs, mine, (size_t)count * sizeof *mine);
        hear(i, theirs, (size_t)count * sizeof *mine);
        memcpy(all + total, theirs, (size_t)count * sizeof *mine);
        total += count;
    }
    for (i = 0; i < total; i++)
        for (j = 0; j < i; j++)
            CHECK((char *)all[i] + size <= (char *)all[j] ||
                  (char *)all[j] + size <= (char *)all[i]);
    /* What one frees now, another may be given. */
    sys_barrier();
}

static const struct scenario *find(const struct scenario *list,
                                   const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

static void run(const struct scenario *scenario)
{
    scenario->run();
    sys_barrier();
    if (me == 0) {
        printf("ok %s\n", scenario->name);
        fflush(stdout);
    }
}

static int list_all(void)
{
    const struct scenario *s;

    for (s = data_scenarios; s->name; s++)
        puts(s->name);
    for (s = memory_scenarios; s->name; s++)
        puts(s->name);
    for (s = error_scenarios; s->name; s++)
        puts(s->name);
    return 0;
}

int main(int argc, char **argv)
{
    const struct scenario *s;
    int i;

    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_all();
    MPI_Init(&argc, &argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    for (i = 1; i < argc; i++) {
        if (sscanf(argv[i], "steps=%d", &steps) == 1)
            continue;
        if (strcmp(argv[i], "all") == 0) {
            for (s = data_scenarios; s->name; s++)
                run(s);
            for (s = memory_scenarios; s->name; s++)
                run(s);
            continue;
        }
        s = find(data_scenarios, argv[i]);
        if (!s)
            s = find(memory_scenarios, argv[i]);
        if (!s)
            s = find(error_scenarios, argv[i]);
        if (!s) {
            if (me == 0)
                fprintf(stderr, "no scenario %s; see --list\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        } else {
            run(s);
        }
    }
    MPI_Finalize();
    return 0;
}
