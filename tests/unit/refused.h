/*
 * refused.h - for unit tests of what comes from other nodes: what refuses it, which
 * would end the job, is counted instead.
 */
#ifndef TESTS_UNIT_REFUSED_H
#define TESTS_UNIT_REFUSED_H

#include "memory_common.h"
#include "runtime/no_memory.h"
#include "runtime/say.h"
#include "runtime/shared.h"

static int refused;

void runtime_poison(const char *format, ...)
{
    REQUIRE(format[0]);
    refused++;
}

void runtime_no_memory(const char *to_do, ...)
{
    REQUIRE(to_do[0]);
    refused++;
}

void runtime_broken(const char *format, ...)
{
    REQUIRE(format[0]);
    refused++;
}

#endif
