/* module.c - the library's ranks are recorded if DRASYNC_RECORD is set.
 */
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/say.h"

static int record_start(void)
{
    const char *path = getenv("DRASYNC_RECORD");
    int error;

    if (!path || !*path)
        return 0;
    error =
        drasync_record_open(path, runtime.rank, runtime.ranks, runtime.node);
    if (!error)
        return 0;
    runtime_say("DRASYNC_RECORD: cannot write %s.%d: %s", path, runtime.rank,
                strerror(error));
    return DRASYNC_ESTART;
}

static void record_stop(void)
{
    int error = drasync_record_close();

    if (error)
        runtime_say("DRASYNC_RECORD: the record is incomplete: %s",
                    strerror(error));
}

const struct runtime_module record_module = {
    .name = "record",
    .start = record_start,
    .quiesce = drasync_record_finish,
    .stop = record_stop,
};
