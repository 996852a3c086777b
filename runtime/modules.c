#include "runtime/modules.h"

#include "runtime/replica.h"

const struct runtime_module *const runtime_modules[] = {
    &replica_module,
    NULL,
};
