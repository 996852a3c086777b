/* The state of this process, and what every public call begins with. */
#include "runtime/process.h"

#include "transport/boot.h"

struct runtime runtime;
struct boot *runtime_boot;

static _Atomic uint32_t not_poisoned;
_Atomic uint32_t *runtime_poisoned = &not_poisoned;
