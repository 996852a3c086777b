/*
 * One mistake of a program with the calls of Fig. 1, each ends the job with a
 * line; or with those that return errors, of which it prints the text.
 *
 *   mistakes WHAT        see tests/bats/messages.bats
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drasync.h"

static const char *what;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void holds(region r, region below)
{
    if (is("read")) {
        release_region(r);
        acquire_region(r, READ);
        ralloc(r, 8);
    }
    if (is("covered"))
        release_region(below);
    release_region(r);
    if (is("none"))
        ralloc(below, 8);
    if (is("twice"))
        release_region(r);
    if (is("order")) {
        acquire_region(below, READ);
        acquire_region(r, READ);
    }
    if (is("choice"))
        acquire_region(r, 7);
}

static void addresses(region r, void *object)
{
    int local;

    if (is("null"))
        acquire_region(NULL, READ);
    if (is("outside"))
        acquire_region((region)(void *)&local, READ);
    if (is("inside"))
        acquire_region(object, READ);
    acquire_region(r, WRITE);
    delete_region(r);
    if (is("deleted"))
        acquire_region(r, READ);
}

static void say(int err)
{
    printf("%s\n", drasync_strerror(err));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    region r = new_region(), below = new_subregion(r), made;
    void *object = ralloc(r, 8);

    what = argc > 1 ? argv[1] : "";
    printf("region %p below %p object %p\n", (void *)r, (void *)below, object);
    fflush(stdout);
    while (is("memory"))
        ralloc(r, (size_t)1 << 20);
    if (is("child")) {
        if (fork() == 0) {
            say(drasync_new_region(&made));
            _exit(0);
        }
        wait(NULL);
    }
    if (is("overwritten")) {
        memset((void *)r, 0x5a, 0x300);
        while (!drasync_alloc(r, 100, &object))
            continue;
        say(drasync_alloc(r, 100, &object));
        fflush(NULL);
        _exit(1);
    }
    holds(r, below);
    addresses(r, object);
    if (is("finalized"))
        drasync_finalize();
    if (is("finalized"))
        say(drasync_new_region(&made));
    return 0;
}
