/* Finding MPI: see boot.h. */
#include "transport/boot.h"
#include "transport/mpi_table.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drasync.h"

struct mpi_table mpi;

/* What the MPIs of MPICH's ABI call their library: MPICH as Debian builds it;
 * MPICH by itself, Intel MPI, MVAPICH.  (An Open MPI once had the second name,
 * too: see is_mpich().) */
static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12"};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

/* MPI's own library, below every tool; NULL: not looked for, or none. */
static void *mpi_handle;
static const void *mpi_base;
static bool mpi_usable;

static const void *base_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static void *open_named(int mode)
{
    void *handle = NULL;

    for (size_t i = 0; i < LIBRARIES && !handle; i++)
        handle = dlopen(libraries[i], mode);
    return handle;
}

/*
 * The library that PMPI_Comm_rank comes from.  Comm_rank, because we take Init
 * over ourselves, and others may.
 */
static void *find_library(bool load)
{
    void *symbol = dlsym(RTLD_DEFAULT, "PMPI_Comm_rank");
    Dl_info info;

    if (symbol && dladdr(symbol, &info) && info.dli_fname) {
        mpi_base = info.dli_fbase;
        void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        /* MPI linked statically into the executable. */
        return handle ? handle : dlopen(NULL, RTLD_NOW);
    }
    /* Perhaps one that a plug-in brought along for itself. */
    void *handle = open_named(RTLD_NOW | RTLD_NOLOAD);
    if (!handle && load)
        handle = open_named(RTLD_NOW | RTLD_GLOBAL);
    if (handle)
        mpi_base = base_of(dlsym(handle, "PMPI_Comm_rank"));
    return handle;
}

/* The MPIs that share MPICH's ABI; each begins its version with its name. */
static bool is_mpich(const char *version)
{
    static const char *const names[] = {
        "MPICH",      "MVAPICH",    "Intel(R) MPI",
        "CRAY MPICH", "Cray MPICH", "ParaStation MPI",
        NULL};
    for (int i = 0; names[i]; i++) {
        if (!strncmp(version, names[i], strlen(names[i])))
            return true;
    }
    return false;
}

static int fill_table(char *why, size_t why_bytes)
{
    const char *missing = NULL;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;

#define MPI_TABLE_FIND(name)                                           \
    mpi.name = (__typeof__(mpi.name))dlsym(mpi_handle, "PMPI_" #name); \
    if (!mpi.name)                                                     \
        missing = "PMPI_" #name;
    MPI_TABLE(MPI_TABLE_FIND)
#undef MPI_TABLE_FIND

    /* This one has the same arguments in every ABI, and may be called before
     * MPI_Init; so it is asked before any other. */
    if (mpi.Get_library_version)
        mpi.Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = 0;
    if (!is_mpich(version)) {
        snprintf(why, why_bytes,
                 "this program runs on \"%.80s\", which has not MPICH's binary "
                 "interface",
                 version[0] ? version : "an unknown MPI");
        return DRASYNC_ENOTREADY;
    }
    if (missing) {
        snprintf(why, why_bytes, "%.80s has no %s", version, missing);
        return DRASYNC_ENOTREADY;
    }
    return 0;
}

int boot_find(bool load, char *why, size_t why_bytes)
{
    int saved = errno, err;

    if (mpi_usable)
        return 0;
    if (!mpi_handle)
        mpi_handle = find_library(load);
    if (!mpi_handle) {
        snprintf(why, why_bytes, "no MPI in this process%s",
                 load ? ", and neither libmpich.so.12 nor libmpi.so.12 can be "
                        "loaded; link the program with MPI, or name MPI's "
                        "folder in LD_LIBRARY_PATH"
                      : "");
        errno = saved;
        return DRASYNC_ENOTREADY;
    }
    err = fill_table(why, why_bytes);
    mpi_usable = !err;
    errno = saved;
    return err;
}

void *boot_symbol(const char *name)
{
    int saved = errno;

    if (!mpi_handle)
        mpi_handle = find_library(false);
    void *symbol = mpi_handle ? dlsym(mpi_handle, name) : NULL;
    errno = saved;
    return symbol;
}

bool boot_is_mpi(const void *address)
{
    if (!mpi_handle)
        mpi_handle = find_library(false);
    return mpi_base && base_of(address) == mpi_base;
}

bool boot_initialized(void)
{
    int flag = 0;

    return mpi_usable && !mpi.Initialized(&flag) && flag;
}

bool boot_finalized(void)
{
    int flag = 0;

    return mpi_usable && !mpi.Finalized(&flag) && flag;
}

int boot_world(int *rank_out)
{
    int ranks = 0;

    mpi.Comm_rank(MPI_COMM_WORLD, rank_out);
    mpi.Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

int boot_thread_level(void)
{
    int level = MPI_THREAD_SINGLE;

    if (mpi_usable)
        mpi.Query_thread(&level);
    return level;
}

int boot_start_mpi(void)
{
    int (*init)(int *, char ***, int, int *);
    int level;

    /* As the program would call it: tools see it, and so does our take-over. */
    init = (__typeof__(init))dlsym(RTLD_DEFAULT, "MPI_Init_thread");
    if (!init)
        init = mpi.Init_thread;
    return boot_failed("Init_thread",
                       init(NULL, NULL, MPI_THREAD_MULTIPLE, &level))
               ? DRASYNC_EINTERNAL
               : 0;
}

void boot_end_mpi(void)
{
    int (*finalize)(void);

    finalize = (__typeof__(finalize))dlsym(RTLD_DEFAULT, "MPI_Finalize");
    if (!finalize)
        finalize = mpi.Finalize;
    finalize();
}

/* What the thread that ends the job may take. */
#define ABORT_S_MAX 5

void boot_abort(int code)
{
    /* MPI_Abort exits, and an exit handler may come here again.  Another thread
     * that comes here lets the first one end the job: this process must not be
     * gone before the launcher has been told.  Relaxed: one word, and nothing
     * with it. */
    static _Atomic pid_t aborting; /* which thread */
    pid_t self = gettid(), first = 0;

    if (atomic_compare_exchange_strong_explicit(&aborting, &first, self,
                                                memory_order_relaxed,
                                                memory_order_relaxed)) {
        if (mpi_usable && boot_initialized() && !boot_finalized())
            mpi.Abort(MPI_COMM_WORLD, code);
    } else if (first != self) {
        sleep(ABORT_S_MAX);
    }
    _exit(code);
}
