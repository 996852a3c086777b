/*
 * memory_common.h - what the tests of memory/ share: a node to work on,
 * and child processes that map the same node.
 */
#ifndef TESTS_MEMORY_COMMON_H
#define TESTS_MEMORY_COMMON_H

#include "drasync.h"
#include "memory/control.h"
#include "memory/limit.h"
#include "memory/space.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Map and make a node at the first candidate that is free. */
__attribute__((unused)) static void node_open(struct space *space,
                                              uint64_t data_bytes, int node,
                                              int nodes, uint64_t limit)
{
    struct space_layout layout;
    uint32_t mask;
    int data_fd, control_fd;

    REQUIRE(!space_layout_for(data_bytes, &layout));
    REQUIRE(!space_probe(&layout, &mask, NULL, 0) && mask);
    REQUIRE(!space_files_new(&layout, &data_fd, &control_fd));
    REQUIRE(!space_map(space, &layout, __builtin_ctz(mask), data_fd, control_fd,
                       NULL, 0));
    REQUIRE(!control_create(space, node, nodes, limit));
}

__attribute__((unused)) static void node_close(struct space *space)
{
    space_unmap(space);
    close(space->data_fd);
    close(space->control_fd);
}

/* Run @work in @count processes that share the node; true if all return 0. */
__attribute__((unused)) static int
in_processes(const struct space *space, int count,
             int (*work)(const struct space *space, int index))
{
    int i, status, good = 1;

    fflush(stdout);
    for (i = 0; i < count; i++) {
        pid_t pid = fork();

        REQUIRE(pid >= 0);
        if (!pid)
            _exit(work(space, i));
    }
    for (i = 0; i < count; i++) {
        REQUIRE(wait(&status) > 0);
        good = good && WIFEXITED(status) && !WEXITSTATUS(status);
    }
    return good;
}

#endif
