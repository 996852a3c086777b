/* table.h - what a header and a table say, looked through.  Private to save/. */
#ifndef SAVE_TABLE_H
#define SAVE_TABLE_H

#include "save/save.h"

/* The numbers of a header whose checksum is right.  0, or DRASYNC_EFORMAT: they
 * do not agree. */
int table_header(const unsigned char *header, struct save_table *table_out,
                 char *why);

/* The lists of @table, which table_header() has filled; the bytes are as many
 * as it found right.  DRASYNC_EFORMAT, DRASYNC_ENOMEM. */
int table_read(const unsigned char *bytes, struct save_table *table, char *why);

#endif /* SAVE_TABLE_H */
