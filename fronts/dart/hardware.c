/*
 * What this process sees of its machine, by hwloc.
 *
 * Indices are hwloc's logical ones in the whole machine, whatever part of it the
 * process may use: so processes that may use different parts agree on them.
 */
#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fronts/dart/locality.h"

#define MEGABYTE (1 << 20)

/* Nobody has measured it: what DASH's load balance is used to. */
#define SHMEM_MBPS_DEFAULT 1235

static void forget(dart_hwinfo_t *hw)
{
    /* All that is unknown is -1: every byte of it is 0xff. */
    memset(hw, 0xff, sizeof(*hw));
    memset(hw->host, 0, sizeof(hw->host));
    hw->num_scopes = 0;
}

static void add_scope(dart_hwinfo_t *hw, dart_locality_scope_t scope, int index)
{
    if (hw->num_scopes < DART_LOCALITY_MAX_DOMAIN_SCOPES - 1)
        hw->scopes[hw->num_scopes++] =
            (dart_locality_scope_pos_t){scope, index};
}

static int megabytes(uint64_t bytes)
{
    return bytes / MEGABYTE > INT_MAX ? INT_MAX : (int)(bytes / MEGABYTE);
}

/* --- Speed ------------------------------------------------------------------- */

static int read_mhz(int cpu, const char *what)
{
    char path[128];
    long khz = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/%s",
             cpu, what);
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%ld", &khz) != 1)
        khz = -1;
    fclose(file);
    return khz > 0 ? (int)(khz / 1000) : -1;
}

/* As it is now; for machines, often virtual, where nothing else is told. */
static int current_mhz(int cpu)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    int at = -1, mhz = -1;
    double value;

    while (file && mhz < 0 && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "processor : %d", &at) != 1 && at == cpu &&
            sscanf(line, "cpu MHz : %lf", &value) == 1 && value >= 1)
            mhz = (int)value;
    }
    if (file)
        fclose(file);
    return mhz;
}

static void look_at_speed(int cpu, dart_hwinfo_t *hw)
{
    hw->min_cpu_mhz = read_mhz(cpu, "cpuinfo_min_freq");
    hw->max_cpu_mhz = read_mhz(cpu, "cpuinfo_max_freq");
    if (hw->max_cpu_mhz < 0)
        hw->max_cpu_mhz = current_mhz(cpu);
    if (hw->min_cpu_mhz < 0)
        hw->min_cpu_mhz = hw->max_cpu_mhz;
}

/* --- Place -------------------------------------------------------------------- */

static void note_cache(hwloc_obj_t cache, dart_hwinfo_t *hw)
{
    unsigned level = cache->attr->cache.depth - 1;

    add_scope(hw, DART_LOCALITY_SCOPE_CACHE, (int)cache->logical_index);
    if (level >= DART_LOCALITY_MAX_CACHE_LEVELS)
        return;
    hw->cache_sizes[level] = cache->attr->cache.size > INT_MAX
                                 ? INT_MAX
                                 : (int)cache->attr->cache.size;
    hw->cache_line_sizes[level] = (int)cache->attr->cache.linesize;
    hw->cache_ids[level] = (int)cache->logical_index;
}

/* The processor, its core, and what that is in, innermost first. */
static void look_up_from(hwloc_obj_t pu, dart_hwinfo_t *hw)
{
    hw->cpu_id = (int)pu->logical_index;
    for (hwloc_obj_t obj = pu->parent; obj; obj = obj->parent) {
        if (obj->type == HWLOC_OBJ_CORE) {
            hw->core_id = (int)obj->logical_index;
            add_scope(hw, DART_LOCALITY_SCOPE_CORE, hw->core_id);
        } else if (hwloc_obj_type_is_dcache(obj->type) && hw->num_scopes > 0) {
            note_cache(obj, hw);
        } else if (obj->type == HWLOC_OBJ_PACKAGE && hw->num_scopes > 0) {
            add_scope(hw, DART_LOCALITY_SCOPE_PACKAGE, (int)obj->logical_index);
        }
    }
}

/* A NUMA domain goes around packages, as the scopes' order has it: where a
 * package has several, each has its part of the package. */
static void look_at_numa(hwloc_topology_t topology, hwloc_obj_t pu,
                         dart_hwinfo_t *hw)
{
    hwloc_obj_t numa = NULL;

    hw->num_numa = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE,
                                              numa))) {
        if (!hwloc_bitmap_isset(numa->cpuset, pu->os_index))
            continue;
        hw->numa_id = (int)numa->logical_index;
        hw->numa_memory_bytes = megabytes(numa->attr->numanode.local_memory);
        if (hw->num_scopes > 0)
            add_scope(hw, DART_LOCALITY_SCOPE_NUMA, hw->numa_id);
        return;
    }
}

/* The processor that the caller runs on; NULL: not known. */
static hwloc_obj_t find_processor(hwloc_topology_t topology)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int cpu = sched_getcpu();

    if (set &&
        hwloc_get_last_cpu_location(topology, set, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_first(set) >= 0)
        cpu = hwloc_bitmap_first(set);
    hwloc_bitmap_free(set);
    return cpu < 0 ? NULL
                   : hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu);
}

/* How many cores, and processors on them, the process may use. */
static void look_at_cores(hwloc_topology_t topology, dart_hwinfo_t *hw)
{
    hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(topology);
    hwloc_obj_t core = NULL;
    int cores = 0, most = 0;

    while (
        (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core))) {
        int processors = 0;

        for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0;
             cpu = hwloc_bitmap_next(core->cpuset, cpu))
            processors += hwloc_bitmap_isset(allowed, (unsigned)cpu) != 0;
        cores += processors > 0;
        most = processors > most ? processors : most;
    }
    if (cores > 0) {
        hw->num_cores = cores;
        hw->min_threads = 1;
        hw->max_threads = most;
    }
}

static void look_with_hwloc(dart_hwinfo_t *hw)
{
    hwloc_topology_t topology;
    hwloc_obj_t pu;

    if (hwloc_topology_init(&topology) != 0)
        return;
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(topology) == 0) {
        look_at_cores(topology, hw);
        hw->num_sockets = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
        hw->system_memory_bytes =
            megabytes(hwloc_get_root_obj(topology)->total_memory);
        pu = find_processor(topology);
        if (pu) {
            look_up_from(pu, hw);
            look_at_numa(topology, pu, hw);
            look_at_speed((int)pu->os_index, hw);
        }
    }
    hwloc_topology_destroy(topology);
}

static void look(dart_hwinfo_t *hw)
{
    const char *mbps = getenv("DASH_MAX_SHMEM_MBPS");

    forget(hw);
    if (gethostname(hw->host, sizeof(hw->host)) != 0)
        hw->host[0] = '\0';
    hw->host[sizeof(hw->host) - 1] = '\0';
    hw->max_shmem_mbps = mbps ? atoi(mbps) : 0;
    if (hw->max_shmem_mbps <= 0)
        hw->max_shmem_mbps = SHMEM_MBPS_DEFAULT;
    look_with_hwloc(hw);
    if (hw->num_cores < 1) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        hw->num_cores = processors > 0 ? (int)processors : 1;
        hw->min_threads = hw->max_threads = 1;
    }
    if (hw->cpu_id < 0)
        hw->cpu_id = sched_getcpu();
    if (hw->num_scopes == 0)
        add_scope(hw, DART_LOCALITY_SCOPE_CORE,
                  hw->core_id >= 0 ? hw->core_id : hw->cpu_id);
}

void hardware_look(dart_hwinfo_t *out)
{
    static dart_hwinfo_t seen;
    static bool looked;

    if (!looked)
        look(&seen);
    looked = true;
    *out = seen;
}
