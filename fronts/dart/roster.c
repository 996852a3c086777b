/* Which units are of a team, and where they are: see roster.h. */
#include "fronts/dart/roster.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024 /* a power of two */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct roster *buckets[BUCKETS];
static int comms;

uint64_t roster_hash(const dart_unit_t *units, int size)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)size;

    for (int i = 0; i < size; i++) {
        hash = (hash ^ (uint64_t)units[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static struct roster *find(uint64_t hash, const dart_unit_t *units, int size)
{
    size_t bytes = (size_t)size * sizeof(*units);
    struct roster *r = buckets[hash % BUCKETS];

    while (r && (r->hash != hash || r->size != size ||
                 memcmp(r->units, units, bytes)))
        r = r->next;
    return r;
}

struct roster *roster_take(const dart_unit_t *units, int size)
{
    uint64_t hash = roster_hash(units, size);
    struct roster *r;

    pthread_mutex_lock(&mutex);
    r = find(hash, units, size);
    if (!r) {
        r = calloc(1, sizeof(*r) + (size_t)size * sizeof(*units));
        if (r) {
            r->hash = hash;
            r->size = size;
            memcpy(r->units, units, (size_t)size * sizeof(*units));
            r->next = buckets[hash % BUCKETS];
            buckets[hash % BUCKETS] = r;
        }
    }
    if (r)
        r->teams++;
    pthread_mutex_unlock(&mutex);
    return r;
}

void roster_drop(struct roster *roster)
{
    struct roster **link = &buckets[roster->hash % BUCKETS];

    pthread_mutex_lock(&mutex);
    if (--roster->teams == 0) {
        while (*link != roster)
            link = &(*link)->next;
        *link = roster->next;
        free(roster);
    }
    pthread_mutex_unlock(&mutex);
}

struct team_comm *roster_comm_take(struct roster *roster)
{
    struct team_comm *latest;

    pthread_mutex_lock(&mutex);
    latest = roster->comm;
    if (latest)
        latest->teams++;
    pthread_mutex_unlock(&mutex);
    return latest;
}

struct team_comm *team_comm_new(void)
{
    struct team_comm *comm = calloc(1, sizeof(*comm));

    if (!comm)
        return NULL;
    comm->comm = MPI_COMM_NULL;
    comm->teams = 1;
    pthread_mutex_init(&comm->mutex, NULL);
    pthread_cond_init(&comm->next, NULL);
    return comm;
}

void team_comm_free(struct team_comm *comm)
{
    if (!comm)
        return;
    if (comm->comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm->comm);
    pthread_cond_destroy(&comm->next);
    pthread_mutex_destroy(&comm->mutex);
    free(comm);
}

void roster_comm_add(struct roster *roster, struct team_comm *comm)
{
    pthread_mutex_lock(&mutex);
    if (comm->shared)
        roster->comm = comm;
    comms++;
    pthread_mutex_unlock(&mutex);
}

bool roster_comm_drop(struct roster *roster, struct team_comm *comm)
{
    bool last;

    pthread_mutex_lock(&mutex);
    last = --comm->teams == 0;
    if (last) {
        if (roster->comm == comm)
            roster->comm = NULL;
        comms--;
    }
    pthread_mutex_unlock(&mutex);
    if (last)
        team_comm_free(comm);
    return last;
}

int roster_comms(void)
{
    int count;

    pthread_mutex_lock(&mutex);
    count = comms;
    pthread_mutex_unlock(&mutex);
    return count;
}
