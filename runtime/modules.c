#include "runtime/modules.h"

#include "runtime/chunks.h"
#include "runtime/names.h"
#include "runtime/native.h"
#include "runtime/queue_lock.h"
#include "runtime/record.h"
#include "runtime/replica.h"
#include "runtime/rma_state.h"

const struct runtime_module *const runtime_modules[] = {
    &chunks_module,
    &names_module,
    &native_module,
    &replica_module,
    &rma_module,
    &queue_lock_module,
    &record_module,
    NULL,
};
