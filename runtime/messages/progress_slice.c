#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/messages/progress.h"

/* Who gets the core soon after waking: Linux since 6.12, else no harm. */
#define PROGRESS_SLICE_NS 100000

void progress_short_slice(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attr;

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) ||
        attr.policy != SCHED_OTHER)
        return;
    attr.runtime_ns = PROGRESS_SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attr, 0);
}
