/* Numbers and communicators of a new team, agreed on by its units. */
#include "fronts/dart/team_make.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"
#include "fronts/dart/team_call.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t numbers[TEAMS_MAX / 64];

void team_numbers(int window, uint64_t used_out[WINDOW_WORDS])
{
    pthread_mutex_lock(&mutex);
    memcpy(used_out, numbers + window * WINDOW_WORDS,
           WINDOW_WORDS * sizeof(*numbers));
    pthread_mutex_unlock(&mutex);
}

bool team_number_take(int number)
{
    uint64_t bit = UINT64_C(1) << number % 64;
    bool taken;

    pthread_mutex_lock(&mutex);
    taken = !(numbers[number / 64] & bit);
    numbers[number / 64] |= bit;
    pthread_mutex_unlock(&mutex);
    return taken;
}

void team_number_give(int number)
{
    pthread_mutex_lock(&mutex);
    numbers[number / 64] &= ~(UINT64_C(1) << number % 64);
    pthread_mutex_unlock(&mutex);
}

int team_number_free(const uint64_t used[WINDOW_WORDS], int from)
{
    uint64_t free_bits = ~used[from / 64] & UINT64_MAX << from % 64;

    /* The first word twice: its upper part first, its lower part last. */
    for (int i = 0; i <= WINDOW_WORDS; i++) {
        int word = (from / 64 + i) % WINDOW_WORDS;
        if (i > 0)
            free_bits = ~used[word];
        if (free_bits)
            return word * 64 + __builtin_ctzll(free_bits);
    }
    return -1;
}

struct team *team_new(struct roster *roster)
{
    struct team *team = calloc(1, sizeof(*team));

    if (!team)
        return NULL;
    team->id = DART_TEAM_NULL;
    team->comm = MPI_COMM_NULL;
    team->roster = roster;
    team->size = roster->size;
    team->units = roster->units;
    team->me = team_unit_of(team, front_job->rank);
    team->one_node = true;
    for (int i = 0; i < team->size && team->one_node; i++)
        team->one_node = front_job->node_of[team->units[i]] == front_job->node;
    return team;
}

void team_enter(struct team *team, int number)
{
    team->comm = team->shared_comm->comm;
    team->tickets = teams_threads && team->shared_comm->shared;
    team->id = (dart_team_t)number;
    team_table[number] = team;
}

void team_drop(struct team *team)
{
    segment_drop_all(team);
    locality_drop(team->id);
    team_table[team->id] = NULL;
    if (team->id != team->shared_comm->number)
        team_number_give(team->id);
    team_comm_leave(team->roster, team->shared_comm);
    roster_drop(team->roster);
    free(team);
}

void team_comm_leave(struct roster *roster, struct team_comm *comm)
{
    int number = comm->number;

    if (roster_comm_drop(roster, comm))
        team_number_give(number);
}
