/*
 * source.h - who says which node uses a page.
 *
 * A source writes what it sees into the `hits` of areas
 * (upm_area_count_access()).  All calls come under the lock of the library, but
 * for those that say otherwise.
 */
#ifndef UPM_SOURCE_H
#define UPM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upm/area.h"

struct upm_source {
    const char *name;

    /* Get ready; @argument is what stands behind "NAME:" in UPM_SOURCE.  0, or
     * -ENOTSUP and a reason in @why. */
    int (*open)(const char *argument, char *why, size_t why_bytes);
    void (*close)(void);

    /* An area that will be armed; one that will not be any more, and is not.
     * 0, or a negative errno. */
    int (*watch)(struct upm_area *area);
    void (*unwatch)(struct upm_area *area);

    /* The next access to each unit of [first, first + count) is counted. */
    void (*arm)(struct upm_area *area, size_t first, size_t count);

    /* Nothing of the area is waited for any more. */
    void (*disarm)(struct upm_area *area);

    /* An iteration ends: write into `hits` what has not been written yet; may
     * be NULL. */
    void (*gather)(void);

    /* What is counted once has to be armed again, now and then; and how long
     * threads have been kept by that, in ns, since this was asked last. */
    bool rearms;
    uint64_t (*spent_ns)(void);

    /* In the child of a fork(), whose only thread calls it: the source is gone,
     * and so is what it did to the areas. */
    void (*forked)(void);
};

extern const struct upm_source upm_source_protect, upm_source_userfaultfd,
    upm_source_perf, upm_source_file, upm_source_none;

/* By enum upmlib_source; NULL: there is none. */
const struct upm_source *upm_source_by_number(long number);

#endif /* UPM_SOURCE_H */
