/* message.h - the part of the front that has dart_send and dart_recv. */
#ifndef DRASYNC_FRONTS_DART_MESSAGE_H
#define DRASYNC_FRONTS_DART_MESSAGE_H

#include "dash/dart/if/dart.h"

dart_ret_t messages_start(void);
void messages_stop(void);

#endif /* DRASYNC_FRONTS_DART_MESSAGE_H */
