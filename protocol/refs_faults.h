/*
 * refs_faults.h - FAULT(): does the simulator break this rule of references.h?
 * Never, where it is not the simulator's build.
 */
#ifndef DRASYNC_PROTOCOL_REFS_FAULTS_H
#define DRASYNC_PROTOCOL_REFS_FAULTS_H

#ifdef PROTO_FAULTS
#include "protocol/faults.h"
#define FAULT(which) (refs_fault == (uint32_t)(which))
#else
#define FAULT(which) 0
#endif

#endif /* DRASYNC_PROTOCOL_REFS_FAULTS_H */
