#include "runtime/modules.h"

#include "runtime/services/chunks.h"
#include "runtime/services/names.h"
#include "runtime/native/native.h"
#include "runtime/services/queue_lock.h"
#include "runtime/record/record.h"
#include "runtime/replica/replica.h"
#include "runtime/rma/state.h"

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
