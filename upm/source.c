/* The sources by their number, and the one that counts nothing. */
#include "upm/source.h"

static int open_none(const char *argument, char *why, size_t why_bytes)
{
    (void)argument;
    (void)why;
    (void)why_bytes;
    return 0;
}

static void close_none(void)
{
}

static int watch_none(struct upm_area *area)
{
    (void)area;
    return 0;
}

static void ignore_area(struct upm_area *area)
{
    (void)area;
}

static void arm_none(struct upm_area *area, size_t first, size_t count)
{
    (void)area;
    (void)first;
    (void)count;
}

const struct upm_source upm_source_none = {
    .name = "none",
    .open = open_none,
    .close = close_none,
    .watch = watch_none,
    .unwatch = ignore_area,
    .arm = arm_none,
    .disarm = ignore_area,
    .forked = close_none,
};

const struct upm_source *upm_source_by_number(long number)
{
    static const struct upm_source *const sources[] = {
        [UPMLIB_SOURCE_PROTECT] = &upm_source_protect,
        [UPMLIB_SOURCE_USERFAULTFD] = &upm_source_userfaultfd,
        [UPMLIB_SOURCE_PERF] = &upm_source_perf,
        [UPMLIB_SOURCE_FILE] = &upm_source_file,
        [UPMLIB_SOURCE_NONE] = &upm_source_none,
    };

    return sources[number];
}
