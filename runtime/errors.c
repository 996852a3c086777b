/* The texts of drasync.h. */
#include "drasync.h"

#include "runtime/process.h"

/* Why it does not run here, and what to do; NULL: for no reason that is known.
 */
static const char *not_ready(void)
{
    switch (atomic_load(&runtime.state)) {
    case RUNTIME_STOPPING:
    case RUNTIME_STOPPED:
        return "DRASync is not running in this process any more: MPI_Finalize "
               "or drasync_finalize was called; make this call before it";
    case RUNTIME_CHILD:
        return "DRASync is not running in this process, a child of fork: only "
               "the process that forked may call it";
    default:
        return NULL;
    }
}

const char *drasync_strerror(int error)
{
    const char *why = error == DRASYNC_ENOTREADY ? not_ready() : NULL;

    if (why)
        return why;
    switch (error) {
#define ERROR_TEXT(name, value, text) \
    case name:                        \
        return text;
        DRASYNC_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        return "not an error code of DRASync";
    }
}

const char *drasync_errname(int error)
{
    switch (error) {
#define ERROR_NAME(name, value, text) \
    case name:                        \
        return #name;
        DRASYNC_ERRORS(ERROR_NAME)
#undef ERROR_NAME
    default:
        return "DRASYNC_UNKNOWN";
    }
}

const char *drasync_version(void)
{
    return DRASYNC_VERSION;
}
