/*
 * records.c - records of a run, one file for each rank, read and run again: see
 * docs/records.md.  What is no record is named by file and line; what is, runs
 * to an end, or is said not to.
 */
#include "sim/replay.h"
#include "tests/fuzz/file.h"

/* LeakSanitizer's: the model leaves the protocol's objects to the end. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct replay replay;
    char error[256] = "";

    memset(&replay, 0, sizeof(replay));
    replay.schedulers = 1;
    replay.model.cost = model_cost_default;
    files_cut(data, bytes);
    if (records_read("run", &replay.records, error, sizeof(error))) {
        FUZZ_HOLDS(!strncmp(error, "run.", 4) && !replay.records.rank);
        return 0;
    }
    replay_run(&replay, "run");
    records_free(&replay.records);
    return 0;
}
