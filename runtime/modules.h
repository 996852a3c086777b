/* modules.h - the table of what is built on the runtime; see runtime.h. */
#ifndef DRASYNC_RUNTIME_MODULES_H
#define DRASYNC_RUNTIME_MODULES_H

#include "runtime/runtime.h"

/* In the order in which they start; NULL at the end. */
extern const struct runtime_module *const runtime_modules[];

#endif /* DRASYNC_RUNTIME_MODULES_H */
