/* chores.h - for the progress thread: messages.h says what chores are. */
#ifndef DRASYNC_RUNTIME_MESSAGES_CHORES_H
#define DRASYNC_RUNTIME_MESSAGES_CHORES_H

/* A piece of one of this node's chores.  1 if there was one, else 0. */
int chores_advance(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_CHORES_H */
