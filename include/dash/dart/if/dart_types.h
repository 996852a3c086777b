/*
 * dart_types.h - results, operations, data types and units of the interface,
 * and what describes where units run.
 *
 * Numbers and layouts are those that DASH and programs for DART were compiled
 * with.
 */
#ifndef DART_TYPES_H_INCLUDED
#define DART_TYPES_H_INCLUDED

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Results ------------------------------------------------------------- */

/*
 * What calls return.  Any may return DART_ERR_NOTINIT, DART_ERR_OTHER and, if
 * it makes something, DART_ERR_NOMEM; headers name the others.
 */
typedef enum {
    DART_OK = 0,
    DART_PENDING = 1,      /* no call returns it */
    DART_ERR_INVAL = 2,    /* an argument is not valid */
    DART_ERR_NOTFOUND = 3, /* there is none */
    DART_ERR_NOTINIT = 4,  /* before dart_init() or after dart_exit() */
    DART_ERR_NOMEM = 5,    /* no memory, addresses or numbers are left */
    DART_ERR_OTHER = 999   /* a unit of the job died, or MPI failed */
} dart_ret_t;

/* For dart_abort() and the program's end. */
enum {
    DART_EXIT_SUCCESS = EXIT_SUCCESS,
    DART_EXIT_ABORT = EXIT_FAILURE,
    DART_EXIT_ASSERT = -6
};

/* --- Operations ---------------------------------------------------------- */

/*
 * Of reductions and atomic operations.  MIN, MAX, SUM, PROD: all basic types. 
 * The bitwise (B) and logical (L) ones: integers.  REPLACE and NO_OP: all
 * types, in atomic operations only.  MINMAX: reductions only; the elements come
 * in pairs of the least and the greatest.
 */
enum {
    DART_OP_UNDEFINED = 0,
    DART_OP_MIN,
    DART_OP_MAX,
    DART_OP_MINMAX,
    DART_OP_SUM,
    DART_OP_PROD,
    DART_OP_BAND,
    DART_OP_LAND,
    DART_OP_BOR,
    DART_OP_LOR,
    DART_OP_BXOR,
    DART_OP_LXOR,
    DART_OP_REPLACE,
    DART_OP_NO_OP,
    DART_OP_LAST
};

/* One of these, or what dart_op_create() gave. */
typedef uintptr_t dart_operation_t;

/* Places in a pair of DART_OP_MINMAX. */
#define DART_OP_MINMAX_MIN 0
#define DART_OP_MINMAX_MAX 1

/* --- Data types ---------------------------------------------------------- */

/* One of these, or what dart_type_create_*() gave. */
typedef intptr_t dart_datatype_t;

#define DART_TYPE_UNDEFINED   (dart_datatype_t)(0)
#define DART_TYPE_BYTE        (dart_datatype_t)(1)
#define DART_TYPE_SHORT       (dart_datatype_t)(2)
#define DART_TYPE_INT         (dart_datatype_t)(3)
#define DART_TYPE_UINT        (dart_datatype_t)(4)
#define DART_TYPE_LONG        (dart_datatype_t)(5)
#define DART_TYPE_ULONG       (dart_datatype_t)(6)
#define DART_TYPE_LONGLONG    (dart_datatype_t)(7)
#define DART_TYPE_ULONGLONG   (dart_datatype_t)(8)
#define DART_TYPE_FLOAT       (dart_datatype_t)(9)
#define DART_TYPE_DOUBLE      (dart_datatype_t)(10)
#define DART_TYPE_LONG_DOUBLE (dart_datatype_t)(11)
#define DART_TYPE_LAST        (dart_datatype_t)(12)

/* That of size_t. */
#if (UINT32_MAX == SIZE_MAX)
#define DART_TYPE_SIZET DART_TYPE_ULONG
#elif (UINT64_MAX == SIZE_MAX)
#define DART_TYPE_SIZET DART_TYPE_ULONGLONG
#else
#error "Cannot determine DART type for size_t!"
#endif

/* --- Units and teams ----------------------------------------------------- */

typedef int32_t dart_unit_t;

#define DART_UNDEFINED_UNIT_ID ((dart_unit_t)(-1))

/* A unit's number in DART_TEAM_ALL. */
typedef struct dart_global_unit {
#ifdef __cplusplus
    constexpr dart_global_unit() : id(DART_UNDEFINED_UNIT_ID)
    {
    }
    constexpr dart_global_unit(dart_unit_t uid) : id(uid)
    {
    }
#endif
    dart_unit_t id;
} dart_global_unit_t;

/* A unit's number in a team. */
typedef struct dart_local_unit {
#ifdef __cplusplus
    constexpr dart_local_unit() : id(DART_UNDEFINED_UNIT_ID)
    {
    }
    constexpr dart_local_unit(dart_unit_t uid) : id(uid)
    {
    }
#endif
    dart_unit_t id;
} dart_team_unit_t;

static inline dart_team_unit_t dart_create_team_unit(dart_unit_t unit)
{
    dart_team_unit_t tmp = {unit};
    return tmp;
}

#define DART_TEAM_UNIT_ID(__u) (dart_create_team_unit(__u))

static inline dart_global_unit_t dart_create_global_unit(dart_unit_t unit)
{
    dart_global_unit_t tmp = {unit};
    return tmp;
}

#define DART_GLOBAL_UNIT_ID(__u)    (dart_create_global_unit(__u))
#define DART_UNDEFINED_TEAM_UNIT_ID DART_TEAM_UNIT_ID(DART_UNDEFINED_UNIT_ID)
#define DART_UNDEFINED_GLOBAL_UNIT_ID \
    DART_GLOBAL_UNIT_ID(DART_UNDEFINED_UNIT_ID)

typedef int16_t dart_team_t;

#define DART_UNDEFINED_TEAM_ID ((dart_team_t)(-1))

/* May several threads of a unit call DART at a time? */
typedef enum {
    DART_THREAD_SINGLE = 0,
    DART_THREAD_MULTIPLE = 10
} dart_thread_support_level_t;

/* --- Where units run ------------------------------------------------------ */

/* Kinds of locality domains, the wider the smaller; dart_locality.h. */
typedef enum {
    DART_LOCALITY_SCOPE_UNDEFINED = -1,
    DART_LOCALITY_SCOPE_GLOBAL = 0,
    DART_LOCALITY_SCOPE_GROUP = 1, /* made by the program, on any level */
    DART_LOCALITY_SCOPE_NETWORK = 50,
    DART_LOCALITY_SCOPE_NODE = 100, /* a host, known by its name */
    DART_LOCALITY_SCOPE_MODULE = 200,
    DART_LOCALITY_SCOPE_NUMA = 300,
    DART_LOCALITY_SCOPE_UNIT = 400,
    DART_LOCALITY_SCOPE_PACKAGE = 500,
    DART_LOCALITY_SCOPE_UNCORE = 510,
    DART_LOCALITY_SCOPE_CACHE = 530,
    DART_LOCALITY_SCOPE_CORE = 550,
    DART_LOCALITY_SCOPE_CPU = 600
} dart_locality_scope_t;

/* With the final 0; longer names are cut.  Programs and the library agree on the
 * layout of what follows, whatever standard they are compiled for. */
#define DART_LOCALITY_HOST_MAX_SIZE       ((int)(64))
#define DART_LOCALITY_DOMAIN_TAG_MAX_SIZE ((int)(32))
#define DART_LOCALITY_MAX_DOMAIN_SCOPES   ((int)(12))
#define DART_LOCALITY_UNIT_MAX_CPUS       ((int)(64))
#define DART_LOCALITY_MAX_NUMA_ID         ((int)(16))
#define DART_LOCALITY_MAX_CACHE_LEVELS    ((int)(5))

typedef struct {
    dart_locality_scope_t scope;
    int index; /* hwloc's logical one, on the host */
} dart_locality_scope_pos_t;

/* What a unit saw of its host, and where it ran then.  Unknown: -1. */
typedef struct {
    char host[DART_LOCALITY_HOST_MAX_SIZE];
    int num_cores; /* this unit's part of the cores of its host, at least 1 */
    int num_numa;
    int numa_id;
    int num_sockets;
    int core_id; /* logical, as all indices */
    int cpu_id;
    int min_cpu_mhz;
    int max_cpu_mhz;
    int cache_sizes[DART_LOCALITY_MAX_CACHE_LEVELS]; /* bytes; L1 first */
    int cache_line_sizes[DART_LOCALITY_MAX_CACHE_LEVELS];
    int cache_ids[DART_LOCALITY_MAX_CACHE_LEVELS];
    int min_threads; /* of a core: 1 */
    int max_threads;
    int max_shmem_mbps; /* $DASH_MAX_SHMEM_MBPS, or 1235: nobody measures it */
    int system_memory_bytes; /* in MiB, in spite of the name */
    int numa_memory_bytes;   /* likewise, of the unit's NUMA domain */
    /* The domains that the unit is in, core first. */
    dart_locality_scope_pos_t scopes[DART_LOCALITY_MAX_DOMAIN_SCOPES];
    int num_scopes;
} dart_hwinfo_t;

typedef struct {
    char host[DART_LOCALITY_HOST_MAX_SIZE];
    char module[DART_LOCALITY_HOST_MAX_SIZE];
    dart_locality_scope_pos_t pos;
} dart_module_location_t;

/* A locality domain and, through @children, what is in it.  Unknown: -1. */
struct dart_domain_locality_s {
    char host[DART_LOCALITY_HOST_MAX_SIZE]; /* "": on several, or unknown */
    char domain_tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    struct dart_domain_locality_s **aliases; /* of a group: what it is in */
    int num_aliases;
    dart_locality_scope_t scope;
    int level;          /* the root's is 0 */
    int global_index;   /* of hardware: hwloc's logical one, on the host */
    int relative_index; /* among the parent's children */
    struct dart_domain_locality_s *parent; /* NULL: the root */
    int num_domains;
    struct dart_domain_locality_s **children; /* NULL: none */
    int is_symmetric;                         /* all children are alike */
    dart_team_t team;
    int num_units;
    dart_global_unit_t *unit_ids; /* ascending; NULL: none */
    int num_nodes;                /* 1: units have common memory */
    int node_id;                  /* -1: several */
    int num_cores;                /* below nodes: the part of its units */
    int shared_mem_bytes;         /* 0: none, -1: unknown */
};
typedef struct dart_domain_locality_s dart_domain_locality_t;

/* Where a unit of a team runs. */
typedef struct {
    dart_team_unit_t unit;
    dart_team_t team;
    dart_hwinfo_t hwinfo;
    char domain_tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE]; /* of its core */
} dart_unit_locality_t;

/* --- Settings ------------------------------------------------------------ */

typedef struct {
    int log_enabled; /* 1 at first: a call that fails says why, on stderr */
} dart_config_t;

/* --- Types and operations of the program's own --------------------------- */

/*
 * Blocks of @blocklen elements, each beginning @stride elements after the one
 * before.  A transfer of it moves a multiple of @blocklen elements.
 *   DART_ERR_INVAL  @basetype is not basic or custom; @blocklen is 0 or more
 *                   than an int holds; @stride is less than @blocklen; NULL
 * Types are this unit's; they end with dart_type_destroy() or dart_exit().  On
 * error *newtype is DART_TYPE_UNDEFINED.
 */
dart_ret_t dart_type_create_strided(dart_datatype_t basetype, size_t stride,
                                    size_t blocklen, dart_datatype_t *newtype);

/*
 * @count blocks, of blocklen[i] elements that begin offset[i] elements after
 * the address.  A transfer of it moves a multiple of the sum of the lengths; a
 * second one begins where the first one's last element ends.  The arrays are
 * copied.
 *   DART_ERR_INVAL  @basetype is not basic or custom; no elements; more than
 *                   memory can hold; NULL
 */
dart_ret_t dart_type_create_indexed(dart_datatype_t basetype, size_t count,
                                    const size_t blocklen[],
                                    const size_t offset[],
                                    dart_datatype_t *newtype);

/*
 * Elements of @num_bytes bytes, whatever they are: to be moved, and reduced by
 * operations made for them.
 *   DART_ERR_INVAL  0 bytes, more than an int holds, or NULL
 */
dart_ret_t dart_type_create_custom(size_t num_bytes, dart_datatype_t *newtype);

/*
 * End a type; transfers that are under way are not touched.  *dart_type becomes
 * DART_TYPE_UNDEFINED.
 *   DART_ERR_INVAL  NULL, a predefined one, or none
 */
dart_ret_t dart_type_destroy(dart_datatype_t *dart_type);

/* inoutvec[i] = invec[i] op inoutvec[i], for @len elements; @user_data is that
 * of dart_op_create().  It must not call DART. */
typedef void (*dart_operator_t)(const void *invec, void *inoutvec, size_t len,
                                void *user_data);

/*
 * An operation for reductions of @dtype, which is basic or custom.  It is
 * associative, and commutative if @commute.  @userdata stays the caller's. 
 * With @dtype_is_tmp the type is used for this operation only.
 *   DART_ERR_INVAL  no such type, or NULL (but for @userdata)
 * Ends with dart_op_destroy() or dart_exit().  On error *new_op is
 * DART_OP_UNDEFINED.
 */
dart_ret_t dart_op_create(dart_operator_t op, void *userdata, bool commute,
                          dart_datatype_t dtype, bool dtype_is_tmp,
                          dart_operation_t *new_op);

/*
 * End an operation; *op becomes DART_OP_UNDEFINED.
 *   DART_ERR_INVAL  NULL, a predefined one, or none
 */
dart_ret_t dart_op_destroy(dart_operation_t *op);

#ifdef __cplusplus
}
#endif

#endif /* DART_TYPES_H_INCLUDED */
