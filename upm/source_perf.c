/*
 * Counts by perf: samples of loads and stores with their addresses, by PEBS
 * (Intel) or IBS (AMD).  Nothing is protected.  See source.h.
 *
 * Each thread of the process has an event on each processor, inherited by the
 * threads that it starts; all events of a processor write into one ring.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "upm/host.h"
#include "upm/source.h"

#define CPUS_MAX   1024
#define EVENTS_MAX 16384

#define RING_PAGES    64 /* a power of two */
#define SAMPLE_PERIOD 20011

struct sample {
    struct perf_event_header header;
    uint32_t process, thread;
    uint64_t address;
    uint32_t cpu, unused;
};

static struct perf_event_mmap_page *rings[CPUS_MAX];
static int ring_fds[CPUS_MAX], events[EVENTS_MAX];
static unsigned event_count;

/* A file of the PMU @pmu, into @text; its length, 0 if it cannot be read. */
static size_t read_pmu(const char *pmu, const char *name, char text[128])
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu,
             name);
    FILE *file = fopen(path, "re");
    size_t bytes = file ? fread(text, 1, 127, file) : 0;

    if (file)
        fclose(file);
    text[bytes] = 0;
    return bytes;
}

/* The value of "@name=0x..." in @text, or 0. */
static uint64_t term(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 0) : 0;
}

/* The event of this machine's PMU, or -ENOTSUP. */
static int choose_event(struct perf_event_attr *attr)
{
    char text[128];

    *attr = (struct perf_event_attr){
        .size = sizeof(*attr),
        .sample_period = SAMPLE_PERIOD,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU,
        .exclude_kernel = 1,
        .inherit = 1};
    if (read_pmu("ibs_op", "type", text)) {
        attr->type = (uint32_t)strtoul(text, NULL, 10);
        attr->exclude_kernel = 0; /* IBS cannot; such samples fit no area */
        return 0;
    }
    if (!read_pmu("cpu", "events/mem-loads", text))
        return -ENOTSUP;
    attr->config = term(text, "event=") | term(text, "umask=") << 8;
    attr->config1 = term(text, "ldlat=");
    attr->precise_ip = 2;
    if (!read_pmu("cpu", "type", text))
        return -ENOTSUP;
    attr->type = (uint32_t)strtoul(text, NULL, 10);
    return 0;
}

static int open_on(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    if (event_count == EVENTS_MAX)
        return -ENOSPC;
    int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1,
                          PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    events[event_count++] = fd;
    if (rings[cpu])
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fds[cpu]) ? -errno : 0;
    void *ring = mmap(NULL, (RING_PAGES + 1) * UPM_PAGE_BYTES,
                      PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED)
        return -errno;
    rings[cpu] = ring;
    ring_fds[cpu] = fd;
    return 0;
}

static void close_perf(void)
{
    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (rings[cpu])
            munmap(rings[cpu], (RING_PAGES + 1) * UPM_PAGE_BYTES);
        rings[cpu] = NULL;
    }
    while (event_count > 0)
        close(events[--event_count]);
}

/* An event for each thread on each processor. */
static int open_all(struct perf_event_attr *attr)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int err = tasks ? 0 : -errno;

    while (!err && (task = readdir(tasks))) {
        pid_t tid = (pid_t)atoi(task->d_name);

        for (int cpu = 0; tid > 0 && cpu < cpus && cpu < CPUS_MAX && !err;
             cpu++) {
            err = open_on(attr, tid, cpu);
            /* A thread that has ended, a processor that is off. */
            if (err == -ESRCH || err == -ENODEV)
                err = 0;
        }
    }
    if (tasks)
        closedir(tasks);
    return err;
}

static int open_perf(const char *argument, char *why, size_t why_bytes)
{
    struct perf_event_attr attr;
    int err = choose_event(&attr);

    (void)argument;
    if (err) {
        snprintf(why, why_bytes,
                 "this machine has no PMU that samples memory accesses");
        return err;
    }
    err = open_all(&attr);
    if (err) {
        close_perf();
        snprintf(why, why_bytes,
                 err == -EACCES || err == -EPERM
                     ? "it is not permitted (sysctl kernel.perf_event_paranoid)"
                     : "perf_event_open: errno %d",
                 -err);
    }
    return err ? -ENOTSUP : 0;
}

/* A child of fork() inherits the events, and has the same addresses. */
static void count_sample(const struct sample *sample)
{
    struct upm_area *area = sample->process == (uint32_t)getpid()
                                ? upm_area_find(sample->address)
                                : NULL;

    if (area)
        upm_area_count_access(
            area, (sample->address - area->start) / area->unit_bytes,
            upm_host_of_cpu(sample->cpu));
}

/* Copies @bytes at @from of the ring, whose end may be between. */
static void copy_out(const char *data, uint64_t from, void *to, size_t bytes)
{
    const uint64_t mask = RING_PAGES * UPM_PAGE_BYTES - 1;

    for (size_t i = 0; i < bytes; i++)
        ((char *)to)[i] = data[(from + i) & mask];
}

static void gather(void)
{
    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        struct perf_event_mmap_page *ring = rings[cpu];
        struct sample sample;

        if (!ring)
            continue;
        /* Pairs with the kernel's release of data_head after the data. */
        uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = ring->data_tail;
        const char *data = (const char *)ring + UPM_PAGE_BYTES;

        while (tail < head) {
            copy_out(data, tail, &sample.header, sizeof(sample.header));
            if (sample.header.size < sizeof(sample.header))
                break;
            if (sample.header.type == PERF_RECORD_SAMPLE &&
                sample.header.size >= sizeof(sample)) {
                copy_out(data, tail, &sample, sizeof(sample));
                count_sample(&sample);
            }
            tail += sample.header.size;
        }
        /* The kernel may overwrite what has been read. */
        __atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
    }
}

static int watch(struct upm_area *area)
{
    (void)area;
    return 0;
}

static void ignore_area(struct upm_area *area)
{
    (void)area;
}

/* Now and then, so that no ring fills up. */
static void arm(struct upm_area *area, size_t first, size_t count)
{
    (void)area;
    (void)count;
    if (!first)
        gather();
}

const struct upm_source upm_source_perf = {
    .name = "perf",
    .open = open_perf,
    .close = close_perf,
    .watch = watch,
    .unwatch = ignore_area,
    .arm = arm,
    .disarm = ignore_area,
    .gather = gather,
    .rearms = true,
    .forked = close_perf,
};
