/* The thread that looks for cut links: see link_watch.h. */
#include "runtime/messages/link_watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/start_facts.h"
#include "runtime/thread.h"
#include "runtime/wait.h"
#include "transport/connections.h"

/* So many looks in DRASYNC_LINK_S, but not more and not less often than that. */
#define LOOKS       8
#define LOOK_US_MIN 200000
#define LOOK_US_MAX 10000000

struct host {
    char name[sizeof(((struct start_facts *)0)->host)];
    uint32_t addresses[START_ADDRESSES];
};

/* The others; the thread's own once it runs. */
static struct host *hosts;
static int hosts_count;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped;
static bool stopping, started;
static pthread_t thread;

/* --- The hosts ------------------------------------------------------------ */

void link_watch_hosts(const struct start_facts *facts)
{
    uint64_t own = facts[runtime.rank].host_key;
    int leaders = 0;

    if (!runtime.leader || runtime.options.link_s == 0)
        return;
    /* A host may have several nodes, and each has a leader. */
    for (int node = 0; node < runtime.nodes; node++)
        leaders += facts[runtime.leader_of[node]].host_key != own;
    hosts = leaders ? calloc((size_t)leaders, sizeof(*hosts)) : NULL;
    if (!hosts)
        return;
    for (int node = 0; node < runtime.nodes; node++) {
        const struct start_facts *leader = &facts[runtime.leader_of[node]];
        struct host *host = &hosts[hosts_count];

        if (leader->host_key == own)
            continue;
        memcpy(host->name, leader->host, sizeof(host->name));
        memcpy(host->addresses, leader->addresses, sizeof(host->addresses));
        hosts_count++;
    }
}

static const struct host *host_with(uint32_t address)
{
    for (int i = 0; i < hosts_count && address; i++)
        for (int n = 0; n < START_ADDRESSES; n++)
            if (hosts[i].addresses[n] == address)
                return &hosts[i];
    return NULL;
}

/* --- The thread ----------------------------------------------------------- */

struct worst {
    const struct host *host;
    uint64_t since_us;
};

static void compare(void *arg, const struct connection_cut *cut)
{
    struct worst *worst = arg;
    const struct host *host = host_with(cut->key);

    if (host && (!worst->host || cut->since_us < worst->since_us))
        *worst = (struct worst){host, cut->since_us};
}

/* The next look is due, or, false, the end. */
static bool wait_until_due(uint64_t us)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    us += (uint64_t)until.tv_nsec / 1000;
    until.tv_sec += (time_t)(us / 1000000);
    until.tv_nsec = (long)(us % 1000000) * 1000;
    pthread_mutex_lock(&mutex);
    while (!stopping && !pthread_cond_timedwait(&stopped, &mutex, &until))
        ;
    bool goes_on = !stopping;
    pthread_mutex_unlock(&mutex);
    return goes_on;
}

static uint64_t look_us(void)
{
    uint64_t us = (uint64_t)runtime.options.link_s * 1000000 / LOOKS;

    if (us < LOOK_US_MIN)
        return LOOK_US_MIN;
    return us > LOOK_US_MAX ? LOOK_US_MAX : us;
}

static void *watch(void *unused)
{
    uint64_t limit_us = (uint64_t)runtime.options.link_s * 1000000;
    struct connections *connections = connections_new();
    struct worst worst = {0};

    (void)unused;
    thread_is_ours();
    pthread_setname_np(pthread_self(), "drasync-links");
    while (connections && wait_until_due(look_us())) {
        uint64_t now = runtime_now_us();

        worst.host = NULL;
        connections_look(connections, now, compare, &worst);
        if (!worst.host || now - worst.since_us < limit_us)
            continue;
        runtime_poison("host %s has acknowledged nothing that was sent to it "
                       "from %s for %u s (DRASYNC_LINK_S): the link between "
                       "them is cut, or that host is off",
                       worst.host->name, runtime.host, runtime.options.link_s);
        break;
    }
    connections_free(connections);
    return NULL;
}

void link_watch_start(void)
{
    pthread_condattr_t monotonic;

    if (!hosts)
        return;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    stopping = false;
    started = !thread_create(&thread, watch, NULL);
}

void link_watch_stop(void)
{
    if (started) {
        pthread_mutex_lock(&mutex);
        stopping = true;
        pthread_cond_signal(&stopped);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
        started = false;
    }
    free(hosts);
    hosts = NULL;
    hosts_count = 0;
}
