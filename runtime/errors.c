/* The texts of drasync.h. */
#include "drasync.h"

const char *drasync_strerror(int error)
{
    switch (error) {
#define ERROR_TEXT(name, value, text)                                         \
    case name:                                                                \
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
#define ERROR_NAME(name, value, text)                                         \
    case name:                                                                \
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
