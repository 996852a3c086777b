/* lifetime_rules.h - included before lifetime/: a rule may be left out. */
#ifndef TESTS_STEP_LIFETIME_RULES_H
#define TESTS_STEP_LIFETIME_RULES_H

#include <stdbool.h>

enum life_rule {
    JOIN,
    AGAIN,
    ENDED_FIRST,
    UNMOVED,
    BOTH_CLASSES,
    COUNT,
    RULES
};

#define LIFE_RULE(rule) life_rule(rule)
bool life_rule(enum life_rule rule);

#endif
