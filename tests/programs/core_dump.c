/*
 * core_dump die        rank 0 fills a region, the last rank reads it and aborts
 * core_dump stop FILE  the last rank waits to be looked at, its process number
 *                      in FILE; it goes on when FILE is gone
 * core_dump find FILE ADDRESS
 *                      does this dump show there what was in the region?  0: yes,
 *                      1: no
 */
#include <elf.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "drasync.h"

#define WORDS 512

static void fill(uint64_t words[WORDS])
{
    uint64_t x = UINT64_C(0x6a09e667f3bcc908);

    for (int i = 0; i < WORDS; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        words[i] = x;
    }
}

static void check(int err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "%s: %s\n", what, drasync_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Does the dump @name have the words at @address? */
static int find(const char *name, uint64_t address)
{
    uint64_t wanted[WORDS], got[WORDS];
    FILE *dump = fopen(name, "re");
    Elf64_Ehdr head;
    Elf64_Phdr part;

    if (!dump || fread(&head, sizeof(head), 1, dump) != 1) {
        perror(name);
        return 2;
    }
    fill(wanted);
    for (int i = 0; i < head.e_phnum; i++) {
        if (fseek(dump, (long)head.e_phoff + i * (long)sizeof(part),
                  SEEK_SET) ||
            fread(&part, sizeof(part), 1, dump) != 1)
            return 2;
        if (part.p_type != PT_LOAD || address < part.p_vaddr ||
            address + sizeof(got) > part.p_vaddr + part.p_filesz)
            continue;
        if (fseek(dump, (long)(part.p_offset + address - part.p_vaddr),
                  SEEK_SET) ||
            fread(got, sizeof(got), 1, dump) != 1)
            return 2;
        return memcmp(got, wanted, sizeof(got)) != 0;
    }
    return 1;
}

/* Until somebody has taken the file away. */
static void wait_to_be_seen(const char *name)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    char whole[4096];
    FILE *file;

    snprintf(whole, sizeof(whole), "%s.new", name);
    file = fopen(whole, "we");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ||
        rename(whole, name))
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (!access(name, F_OK))
        nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    drasync_region_t region = NULL;
    void *words = NULL;
    volatile uint64_t sum = 0;
    int rank, ranks;

    if (argc > 3 && !strcmp(argv[1], "find"))
        return find(argv[2], strtoull(argv[3], NULL, 16));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        check(drasync_new_region(&region), "new region");
        check(drasync_alloc(region, WORDS * sizeof(uint64_t), &words), "alloc");
        fill(words);
        check(drasync_release(region), "release");
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&words, sizeof(words), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == ranks - 1) {
        check(drasync_acquire(region, DRASYNC_READ), "acquire");
        for (int i = 0; i < WORDS; i++)
            sum += ((uint64_t *)words)[i];
        printf("words at %p\n", words);
        fflush(stdout);
        if (argc > 2)
            wait_to_be_seen(argv[2]);
        setrlimit(RLIMIT_CORE, &all);
        if (argc == 2)
            abort();
    }
    MPI_Finalize();
    return 0;
}
