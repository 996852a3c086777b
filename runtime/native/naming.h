/*
 * naming.h - names of native regions.  Node 0 has them (services/names.h); the
 * home of a region that dies withdraws those it had, and so must know that it
 * may have had any: whoever publishes tells the home first.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_NAMING_H
#define DRASYNC_RUNTIME_NATIVE_NAMING_H

void native_naming_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_NAMING_H */
