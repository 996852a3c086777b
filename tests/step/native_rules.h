/* native_rules.h - included before runtime/native/: a rule may be left out. */
#ifndef TESTS_STEP_NATIVE_RULES_H
#define TESTS_STEP_NATIVE_RULES_H

#include <stdbool.h>

enum native_rule {
    AWAITED_ABOVE,
    ENDED_BELOW,
    ENDED_ABOVE,
    UNREAD,
    NEWEST,
    COVER_SHOWN,
    READ_SPLITS,
    MIXED,
    RULES
};

#define NATIVE_RULE(rule) native_rule(rule)
bool native_rule(enum native_rule rule);

#endif
