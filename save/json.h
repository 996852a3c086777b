/*
 * json.h - text of others, as names and paths are, in the strings of JSON: what
 * is no UTF-8 (RFC 3629) may not stand there.
 *
 * Pure; for drasync-file and drasync-ps.
 */
#ifndef DRASYNC_SAVE_JSON_H
#define DRASYNC_SAVE_JSON_H

#include <stdio.h>
#include <string.h>

#define JSON_CHARACTER_BYTES 8

/* The bytes that a character of more than one has in UTF-8, or 0: @s begins with
 * none. */
static inline int json_utf8_bytes(const unsigned char *s)
{
    int more = s[0] >= 0xf0 && s[0] <= 0xf4   ? 3
               : s[0] >= 0xe0 && s[0] <= 0xef ? 2
               : s[0] >= 0xc2 && s[0] <= 0xdf ? 1
                                              : 0;
    unsigned char least = s[0] == 0xe0   ? 0xa0
                          : s[0] == 0xf0 ? 0x90
                                         : 0x80,
                  most = s[0] == 0xed   ? 0x9f
                         : s[0] == 0xf4 ? 0x8f
                                        : 0xbf;

    for (int i = 1; i <= more; i++) {
        if (s[i] < least || s[i] > most)
            return 0;
        least = 0x80;
        most = 0xbf;
    }
    return more ? more + 1 : 0;
}

/* @out is how JSON has the first character of @s, which is not empty.  A byte that
 * is no UTF-8 comes as the character of its number.  Returns what is after it. */
static inline const char *json_character(const char *s,
                                         char out[JSON_CHARACTER_BYTES])
{
    unsigned char c = (unsigned char)*s;
    int bytes = json_utf8_bytes((const unsigned char *)s);

    if (bytes) {
        memcpy(out, s, (size_t)bytes);
        out[bytes] = 0;
        return s + bytes;
    }
    if (c < 0x20 || c >= 0x7f)
        snprintf(out, JSON_CHARACTER_BYTES, "\\u%04x", c);
    else
        snprintf(out, JSON_CHARACTER_BYTES,
                 c == '"' || c == '\\' ? "\\%c" : "%c", c);
    return s + 1;
}

#endif /* DRASYNC_SAVE_JSON_H */
