#include "runtime/modules.h"

const struct runtime_module *const runtime_modules[] = {
    NULL,
};
