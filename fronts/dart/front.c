/* Errors of the DART front: their codes, and what is said about them. */
#include "fronts/dart/front.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

/* Reasons that are said once; what comes when the table is full is said each
 * time. */
#define REASONS_MAX 128

dart_ret_t front_error(int err)
{
    switch (err) {
    case 0:
        return DART_OK;
    case DRASYNC_EINVAL:
    case DRASYNC_ENOREGION:
    case DRASYNC_EDELETED:
    case DRASYNC_ENOTHELD:
    case DRASYNC_ENOOBJECT:
    case DRASYNC_EALIGN:
    case DRASYNC_EFREED:
        return DART_ERR_INVAL;
    case DRASYNC_ENOMEM:
    case DRASYNC_ENOSPACE:
    case DRASYNC_ELIMIT:
        return DART_ERR_NOMEM;
    case DRASYNC_ENOTREADY:
        return DART_ERR_NOTINIT;
    default:
        return DART_ERR_OTHER;
    }
}

/* The first time for this reason, which its format stands for? */
static bool first_time(const char *format)
{
    static const char *_Atomic said[REASONS_MAX];

    for (size_t i = 0; i < REASONS_MAX; i++) {
        const char *other = NULL;

        if (atomic_compare_exchange_strong(&said[i], &other, format))
            return true;
        if (other == format)
            return false;
    }
    return true;
}

dart_ret_t front_fail(dart_ret_t error, const char *format, ...)
{
    dart_config_t *config;
    char line[512];
    va_list arguments;
    int rank = front_job ? front_job->rank : -1;

    dart_config(&config);
    if (!config->log_enabled || !first_time(format))
        return error;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (rank >= 0)
        fprintf(stderr, "dart: unit %d: %s\n", rank, line);
    else
        fprintf(stderr, "dart: %s\n", line);
    return error;
}
