/*
 * options.c - environment variables: NAME=VALUE, each ended by a zero byte.
 * What is read is within what the table allows, and reads the same again; what
 * is not is said in a line.
 */
#include <unistd.h>

#include "drasync.h"
#include "runtime/options.h"
#include "tests/fuzz/fuzz.h"

enum { VARIABLES_MAX = 32 };

static void read_all(void)
{
    struct runtime_options options, again, none = {0};
    char line[OPTIONS_LINE_BYTES] = "";
    size_t at = 0;
    int err = options_read(&options, line, sizeof(line));

    FUZZ_HOLDS(err == 0 || (err == DRASYNC_EINVAL && line[0]));
    FUZZ_HOLDS(memchr(line, 0, sizeof(line)));
    if (!err) {
        FUZZ_HOLDS(!options_read(&again, line, sizeof(line)));
        FUZZ_HOLDS(!options_differ(&options, &again, line, sizeof(line)));
        FUZZ_HOLDS(!options.memory_bytes ||
                   options.memory_bytes >= OPTIONS_MEMORY_BYTES_MIN);
        if (options_differ(&options, &none, line, sizeof(line)))
            FUZZ_HOLDS(line[0] && memchr(line, 0, sizeof(line)));
    }
    while (options_unknown(&at, line, sizeof(line)))
        FUZZ_HOLDS(line[0] && memchr(line, 0, sizeof(line)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *variables[VARIABLES_MAX + 1] = {0}, **before = environ;
    char *text = malloc(bytes + 1), *at = text;

    FUZZ_HOLDS(text);
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = 0;
    for (int i = 0; i < VARIABLES_MAX && at < text + bytes; i++) {
        variables[i] = at;
        at += strlen(at) + 1;
    }
    environ = variables;
    read_all();
    environ = before;
    free(text);
    return 0;
}
