/* Where this worker freed regions, to say so if it names one of them again. */
#include <pthread.h>

#include "fronts/myrmics.h"

/* A number has one place; of two with the same place the later one stays. */
#define FREED_MAX 4096

static struct {
    uint32_t region; /* 0: none */
    struct replica_place place;
} freed[FREED_MAX];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void myrmics_freed(uint32_t region, const struct replica_place *place)
{
    pthread_mutex_lock(&mutex);
    freed[region % FREED_MAX].region = region;
    freed[region % FREED_MAX].place = *place;
    pthread_mutex_unlock(&mutex);
}

static bool freed_here(uint32_t region, struct replica_place *place_out)
{
    bool found;

    pthread_mutex_lock(&mutex);
    found = region && freed[region % FREED_MAX].region == region;
    *place_out = freed[region % FREED_MAX].place;
    pthread_mutex_unlock(&mutex);
    return found;
}

void myrmics_no_region(const char *file, int line, uint32_t region)
{
    struct replica_place place;
    int worker = replica_rank();
    bool known = replica_region_freed(region, &worker);

    /* What another worker freed last is not what this one freed before. */
    if ((!known || worker == replica_rank()) && freed_here(region, &place)) {
        if (place.line)
            myrmics_fail(file, line, "Region ID %u was freed already, at %s:%d",
                         region, place.file, place.line);
        known = true;
    }
    if (known && worker >= 0 && worker != replica_rank())
        myrmics_fail(file, line, "Region ID %u was freed already, by worker %d",
                     region, worker);
    if (known)
        myrmics_fail(file, line, "Region ID %u was freed already", region);
    myrmics_fail(file, line, "Invalid region ID %u", region);
}
