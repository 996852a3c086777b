/* What is said where memory is short: see no_memory.h. */
#include "runtime/no_memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "memory/limit.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* For what was to be done. */
#define TO_DO_BYTES 100

const char *runtime_size_text(uint64_t bytes, char text[RUNTIME_SIZE_TEXT])
{
    uint64_t mib = bytes >> 20;

    if (mib >= UINT64_C(10) << 20)
        snprintf(text, RUNTIME_SIZE_TEXT, "%" PRIu64 " TiB", mib >> 20);
    else if (mib >= 10 << 10)
        snprintf(text, RUNTIME_SIZE_TEXT, "%" PRIu64 " GiB", mib >> 10);
    else
        snprintf(text, RUNTIME_SIZE_TEXT, "%" PRIu64 " MiB", mib);
    return text;
}

void runtime_memory_text(char *text, size_t bytes)
{
    char used[RUNTIME_SIZE_TEXT], limit[RUNTIME_SIZE_TEXT];

    snprintf(text, bytes,
             "this node's regions have %s of %s, which is %s; raise that, "
             "delete regions, or run on more nodes",
             runtime_size_text(limit_used_bytes(&runtime.space), used),
             runtime_size_text(limit_bytes(&runtime.space), limit),
             runtime.options.memory_bytes
                 ? "DRASYNC_MEMORY"
                 : "what the machine or its cgroup allows (DRASYNC_MEMORY is "
                   "not set)");
}

void runtime_no_memory(const char *to_do, ...)
{
    char what[TO_DO_BYTES], memory[300];
    va_list args;

    va_start(args, to_do);
    vsnprintf(what, sizeof(what), to_do, args);
    va_end(args);
    runtime_memory_text(memory, sizeof(memory));
    runtime_poison("out of memory to %s: %s", what, memory);
}
