/* The size of what the ranks of a node share, and a rank's part of it. */
#include "runtime/shared.h"

#include "runtime/process.h"

size_t runtime_shared_bytes(int locals)
{
    return sizeof(struct runtime_shared) +
           (size_t)locals * sizeof(struct runtime_rank);
}

struct runtime_rank *runtime_self(void)
{
    return &runtime.shared->ranks[runtime.local];
}
