/* Linux: see host.h.  By system calls, as libnuma adds nothing to these. */
#include "upm/host.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_NODES_MAX 1024
#define CPUS_MAX         8192
#define ASK_MAX          512 /* pages of one move_pages() that only asks */
#define LINE_BYTES       8192

static int kernel_node[UPM_NODES_MAX];           /* by node */
static uint8_t node_of_kernel[KERNEL_NODES_MAX]; /* the nearest that counts */
static uint8_t node_of_cpu[CPUS_MAX];

/* The first line of a file of sysfs, "" if it cannot be read. */
static void read_line(char line[LINE_BYTES], const char *format, int number)
{
    char path[96];

    line[0] = 0;
    snprintf(path, sizeof(path), format, number);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (!fgets(line, LINE_BYTES, file))
        line[0] = 0;
    fclose(file);
}

/* The numbers of a list like 0-3,7; how many. */
static unsigned read_list(const char *text, int *numbers, unsigned room)
{
    unsigned count = 0;
    char *end;

    for (long from; (from = strtol(text, &end, 10), end != text);
         text = *end == ',' ? end + 1 : end) {
        long to = *end == '-' ? strtol(end + 1, &end, 10) : from;

        for (; from <= to && count < room; from++)
            numbers[count++] = (int)from;
    }
    return count;
}

/*
 * The distances of the kernel's node @kernel, of which @online says the order;
 * which node stands for it (itself, or the nearest that counts); its processors.
 */
static void read_node(struct upm_host *host, int kernel, const int *online,
                      unsigned online_count)
{
    char *line = malloc(LINE_BYTES), *text = line, *end;
    int *cpus = malloc(CPUS_MAX * sizeof(*cpus));
    uint8_t *row = NULL;
    long nearest = INT16_MAX;

    if (!line || !cpus)
        goto out;
    for (unsigned i = 0; i < host->nodes; i++) {
        if (kernel_node[i] == kernel)
            row = host->distance + (size_t)i * UPM_NODES_MAX;
    }
    read_line(line, "/sys/devices/system/node/node%d/distance", kernel);
    for (unsigned i = 0; i < online_count; i++, text = end) {
        long distance = strtol(text, &end, 10);

        if (end == text)
            break;
        for (unsigned node = 0; node < host->nodes; node++) {
            if (kernel_node[node] != online[i])
                continue;
            if (row)
                row[node] = (uint8_t)(distance < 255 ? distance : 255);
            if (distance < nearest) {
                nearest = distance;
                node_of_kernel[kernel] = (uint8_t)node;
            }
        }
    }
    read_line(line, "/sys/devices/system/node/node%d/cpulist", kernel);
    for (unsigned count = read_list(line, cpus, CPUS_MAX); count-- > 0;) {
        if (cpus[count] < CPUS_MAX)
            node_of_cpu[cpus[count]] = node_of_kernel[kernel];
    }
out:
    free(line);
    free(cpus);
}

/* The nodes whose memory this process may use, by the kernel's numbers. */
static const char *read_allowed(struct upm_host *host)
{
    unsigned long mask[KERNEL_NODES_MAX / (8 * sizeof(unsigned long))] = {0};
    size_t word_bits = 8 * sizeof(*mask);

    if (syscall(SYS_get_mempolicy, NULL, mask, KERNEL_NODES_MAX, NULL,
                MPOL_F_MEMS_ALLOWED))
        return errno == ENOSYS ? "this kernel has no NUMA"
                               : "get_mempolicy() is not permitted here";
    for (int i = 0; i < KERNEL_NODES_MAX; i++) {
        if (mask[(size_t)i / word_bits] >> ((size_t)i % word_bits) & 1 &&
            host->nodes < UPM_NODES_MAX)
            kernel_node[host->nodes++] = i;
    }
    return host->nodes > 1 ? NULL : "there is one NUMA node";
}

void upm_host_open(struct upm_host *host)
{
    static char line[LINE_BYTES];
    static int online[KERNEL_NODES_MAX];

    memset(host, 0, sizeof(*host));
    host->why = read_allowed(host);
    if (host->why) {
        host->nodes = 1;
        return;
    }
    for (size_t i = 0; i < sizeof(host->distance); i++)
        host->distance[i] = 20;
    read_line(line, "/sys/devices/system/node/online", 0);
    unsigned count = read_list(line, online, KERNEL_NODES_MAX);
    for (unsigned i = 0; i < count; i++) {
        if (online[i] < KERNEL_NODES_MAX)
            read_node(host, online[i], online, count);
    }
    /* A page that is at home already may always be asked for. */
    if (syscall(SYS_move_pages, 0, 0UL, NULL, NULL, NULL, 0)) {
        host->nodes = 1;
        host->why = "move_pages() is not permitted here";
    }
}

unsigned upm_host_of_cpu(unsigned cpu)
{
    return cpu < CPUS_MAX ? node_of_cpu[cpu] : 0;
}

unsigned upm_host_here(void)
{
    unsigned cpu = 0;

    syscall(SYS_getcpu, &cpu, NULL, NULL);
    return upm_host_of_cpu(cpu);
}

static int16_t from_kernel(int status)
{
    if (status < 0 || status >= KERNEL_NODES_MAX)
        return UPM_NOWHERE;
    return node_of_kernel[status];
}

int upm_host_homes(void *const *pages, size_t count, int16_t *homes)
{
    int status[ASK_MAX];

    for (size_t done = 0; done < count;) {
        size_t part = count - done < ASK_MAX ? count - done : ASK_MAX;

        if (syscall(SYS_move_pages, 0, part, pages + done, NULL, status, 0) < 0)
            return -errno;
        for (size_t i = 0; i < part; i++)
            homes[done + i] = from_kernel(status[i]);
        done += part;
    }
    return 0;
}

int upm_host_move(void *const *pages, size_t count, int16_t node)
{
    int nodes[ASK_MAX], status[ASK_MAX];
    long left = 0;

    for (size_t done = 0; done < count;) {
        size_t part = count - done < ASK_MAX ? count - done : ASK_MAX;

        for (size_t i = 0; i < part; i++) {
            nodes[i] = kernel_node[node];
            status[i] = -EAGAIN;
        }
        left = syscall(SYS_move_pages, 0, part, pages + done, nodes, status,
                       MPOL_MF_MOVE);
        if (left < 0)
            return -errno;
        if (left > 0)
            return status[0] == -ENOMEM ? -ENOMEM : (int)left;
        for (size_t i = 0; i < part; i++) {
            if (from_kernel(status[i]) != node)
                return status[i] < 0 ? status[i] : 1;
        }
        done += part;
    }
    return 0;
}
