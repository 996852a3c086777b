/*
 * probe.c - what it takes here from worker 0 to worker 1: costs for the replay.
 *
 * Lines `NAME BYTES NANOSECONDS`, medians of one way by the clock that all
 * processes of a machine share.  "send": a region is sent, received and each of
 * its pages read; every page was written before.  "message": the same bytes by
 * MPI_Send.  Both workers compute for a while before each, as programs do that
 * send now and then.
 */
#include <mpi.h>
#include <myrmics.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS     31
#define PAGE_BYTES 4096
#define COMPUTE_NS 5000000

static const size_t sizes[] = {64, 1 << 16, 1 << 20};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void compute(void)
{
    uint64_t until = now_ns() + COMPUTE_NS;

    while (now_ns() < until)
        continue;
}

/* When it was sent is what is written to every page. */
static void fill(unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        *(volatile uint64_t *)(data + at) = now_ns();
    *(volatile uint64_t *)data = now_ns();
}

static uint64_t look(const unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        (void)*(const volatile uint64_t *)(data + at);
    return now_ns() - *(const volatile uint64_t *)data;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print(const char *name, size_t bytes, uint64_t *ns)
{
    qsort(ns, ROUNDS, sizeof(*ns), compare);
    printf("%s %zu %llu\n", name, bytes, (unsigned long long)ns[ROUNDS / 2]);
}

static void send_regions(int worker, size_t bytes)
{
    uint64_t ns[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *data = NULL;
        rid_t region = 0;

        if (worker == 0) {
            region = sys_ralloc(0, 0);
            data = sys_alloc(bytes, region);
            MPI_Send(&data, sizeof(data), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&data, sizeof(data), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        compute();
        if (worker == 0) {
            fill(data, bytes);
            sys_send(region, 1);
        } else {
            sys_recv(0, 0);
            ns[i] = look(data, bytes);
        }
        sys_barrier();
        if (worker == 0)
            sys_rfree(region);
    }
    if (worker == 1)
        print("send", bytes, ns);
}

static void send_messages(int worker, size_t bytes)
{
    unsigned char *data = malloc(bytes);
    uint64_t ns[ROUNDS];

    for (int i = 0; data && i < ROUNDS; i++) {
        sys_barrier();
        compute();
        if (worker == 0) {
            fill(data, bytes);
            MPI_Send(data, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            ns[i] = look(data, bytes);
        }
    }
    free(data);
    if (worker == 1)
        print("message", bytes, ns);
}

int main(int argc, char **argv)
{
    int worker;

    MPI_Init(&argc, &argv);
    worker = sys_get_worker_id();
    if (sys_get_num_workers() < 2) {
        fprintf(stderr, "probe: two workers are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; worker < 2 && i < sizeof(sizes) / sizeof(*sizes); i++) {
        send_regions(worker, sizes[i]);
        send_messages(worker, sizes[i]);
    }
    MPI_Finalize();
    return 0;
}
