/* libupm.so beside a program's threads: their stacks, and their system calls. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "memory/sanitizer.h"
#include "upm/holds.h"
#include "upm/state.h"
#include "upm_machine.h"

#define BYTES       ((size_t)PAGES * UPM_PAGE_BYTES)
#define STACK_BYTES ((size_t)4 << 20)

static void must(bool good)
{
    if (!good)
        abort();
}

/* Memory without a guard around it that stops others from growing into it. */
static char *make_stack(void)
{
    char *at = mmap(NULL, STACK_BYTES + 2 * UPM_PAGE_BYTES, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(at + UPM_PAGE_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE);
    return at + UPM_PAGE_BYTES;
}

static pthread_t start_on(char *stack, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_BYTES);
    must(pthread_create(&thread, &attributes, run, argument) == 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

static void *use_stack(void *argument)
{
    volatile char deep[256 * 1024];

    for (size_t i = 0; i < sizeof(deep); i += 1024)
        deep[i] = 1;
    return argument;
}

/* In a child, as it may die of it. */
static void test_hot_stack(void)
{
    int status = 1;
    pid_t child = fork();

    if (!child) {
        char *stack = make_stack();

        alarm(20);
        begin(); /* the first in this process: else there is none in a child */
        for (int i = 0; i < 20; i++) {
            if (upmlib_memrefcnt(stack, STACK_BYTES))
                _exit(2);
            usleep(20000); /* it is armed, more than once */
            pthread_join(start_on(stack, use_stack, NULL), NULL);
            upmlib_memrefcnt(stack, 0); /* it is none any more */
        }
        _exit(0);
    }
    waitpid(child, &status, 0);
    tap_ok(status == 0, "a thread begins on a stack that was a hot area");
}

#if !SANITIZER_ADDRESS
static bool is_found(const char *at)
{
    pthread_mutex_lock(&upm.lock);
    bool found = upm_area_find((uintptr_t)at) != NULL;
    pthread_mutex_unlock(&upm.lock);
    return found;
}

static void discover(void)
{
    pthread_mutex_lock(&upm.lock);
    for (int i = 0; i < 5; i++) /* one may be put off: a thread ends */
        upm_discover();
    pthread_mutex_unlock(&upm.lock);
}

static _Atomic bool begun;

static void *wait_for(void *ends)
{
    char letter;

    atomic_store(&begun, true);
    must(read(*(int *)ends, &letter, 1) == 1);
    return NULL;
}

static void test_stacks_left_out(void)
{
    char *stack = make_stack(), *array = make_stack();
    char *middle = stack + STACK_BYTES / 2;
    int ends[2];

    begin();
    discover();
    tap_ok(is_found(array) && is_found(middle),
           "memory that nobody uses is found, whatever for");
    must(pipe(ends) == 0);
    pthread_t thread = start_on(stack, wait_for, ends);
    while (!atomic_load(&begun))
        usleep(1000);
    tap_ok(!is_found(middle), "it is none once a thread's stack is there");
    discover();
    tap_ok(is_found(array) && !is_found(middle), "nor is it found again");
    must(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100 && !is_found(middle); i++) {
        discover();
        usleep(1000);
    }
    tap_ok(is_found(middle), "until the thread has ended");
    upmlib_end();
    close(ends[0]);
    close(ends[1]);
}
#endif

/* --- System calls --------------------------------------------------------- */

static int pair[2];

static void *receive(void *at)
{
    must(recv(pair[0], at, UPM_PAGE_BYTES, 0) == 1);
    return NULL;
}

/* Until a thread holds what it is to receive to. */
static bool anybody_receives(void)
{
    for (int i = 0; i < 5000; i++) {
        uintptr_t from, to;

        if (upm_held_range(0, &from, &to))
            return true;
        usleep(1000);
    }
    return false;
}

static void test_held(void)
{
    pthread_t thread;

    begin();
    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    upmlib_memrefcnt(arena, BYTES);
    pthread_create(&thread, NULL, receive, arena + 3 * UPM_PAGE_BYTES);
    must(anybody_receives());
    upmlib_migrate_memory(); /* all is armed anew, but for one page */
    touch(2, 4, 8);
    tap_ok(upmlib_migrate_memory() == 4 && are_on(2, 4, 8),
           "while one thread receives, other pages are counted");
    must(send(pair[1], "x", 1, 0) == 1);
    pthread_join(thread, NULL);
    tap_ok(arena[3 * UPM_PAGE_BYTES] == 'x', "and the message arrives");
}

static sigjmp_buf out;

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

/* A time-out of the 1980s, more often than ranges can be held. */
static void test_jumped_out(void)
{
    struct sigaction action = {.sa_handler = jump_out};
    volatile int jumps = 0;

    begin();
    sigaction(SIGALRM, &action, NULL);
    upmlib_memrefcnt(arena, BYTES);
    while (jumps < 2 * UPM_HOLDS_MAX) {
        if (sigsetjmp(out, 1)) {
            jumps++;
            continue;
        }
        ualarm(1000, 0);
        recv(pair[0], arena, UPM_PAGE_BYTES, 0);
    }
    upmlib_migrate_memory();
    touch(3, 1, 5);
    tap_ok(upmlib_migrate_memory() == 4 && are_on(3, 1, 5),
           "pages are counted after handlers jumped out of system calls");
    must(send(pair[1], "y", 1, 0) == 1 &&
         recv(pair[0], arena, UPM_PAGE_BYTES, 0) == 1);
    /* The first touch is seen if all was armed since the message. */
    touch(1, 0, 1);
    upmlib_migrate_memory();
    touch(1, 0, 1);
    upmlib_migrate_memory();
    tap_ok(are_on(1, 0, 1),
           "and so is the message's page after the next message");
}

int main(void)
{
#if SANITIZER_THREAD
    tap_skip("stacks, system calls",
             "ThreadSanitizer calls a program's handlers later, where they "
             "cannot jump out of a fault");
    return tap_end();
#endif
    make_arena();
    test_hot_stack();
#if SANITIZER_ADDRESS
    tap_skip("what is found as a hot area",
             "AddressSanitizer's own memory would be (the library refuses)");
#else
    test_stacks_left_out();
#endif
    test_held();
    test_jumped_out();
    upmlib_end();
    return tap_end();
}
