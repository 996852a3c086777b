/*
 * rma_state.h - what runtime/rma*.c share.
 */
#ifndef DRASYNC_RUNTIME_RMA_STATE_H
#define DRASYNC_RUNTIME_RMA_STATE_H

#include "runtime/rma.h"
#include "runtime/runtime.h"

/* For the table in runtime/modules.c. */
extern const struct runtime_module rma_module;

#endif /* DRASYNC_RUNTIME_RMA_STATE_H */
