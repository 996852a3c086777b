/*
 * tap.h - unit tests report their cases in TAP (testanything.org), which
 * Automake's driver counts.  One process, one thread at a time.
 */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int tap_count, tap_failures;

/* One case: @what is true if @passed.  Its value is @passed. */
__attribute__((unused)) static int tap_ok(int passed, const char *what)
{
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++tap_count, what);
    tap_failures += !passed;
    fflush(stdout);
    return passed;
}

__attribute__((unused)) static void tap_skip(const char *what, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
    fflush(stdout);
}

/* The last line; what main() is to return. */
__attribute__((unused)) static int tap_end(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures ? 1 : 0;
}

/* What must hold for the test to make sense at all. */
#define REQUIRE(condition)                                                   \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("Bail out! %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            fflush(stdout);                                                  \
            _exit(1);                                                        \
        }                                                                    \
    } while (0)

#endif /* TESTS_UNIT_TAP_H */
