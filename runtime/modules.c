/* The table of modules, in the order in which they start. */
#include "runtime/modules.h"

#include <stddef.h>

const struct runtime_module *const runtime_modules[] = {
    &check_module,   &chunks_module,   &names_module,      &native_module,
    &replica_module, &rma_module,      &queue_lock_module, &managed_module,
    &record_module,  &diagnose_module, &save_module,       NULL,
};
