/*
 * A thread's window must be taken back, and that cannot be done.  Each story
 * ends the job with an error.
 *
 * native_revoked filtered   a filter of system calls came after the start
 * native_revoked ended      the thread has ended in the middle of allocating
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native_objects.h"

static drasync_region_t shared;
static _Atomic int step;

static void wait_for(int wanted)
{
    while (atomic_load(&step) < wanted)
        sched_yield();
}

/* The thread has its window when the third object is made. */
static void *allocate(void *arg)
{
    void *v;

    (void)arg;
    three(shared);
    atomic_store(&step, 1);
    wait_for(2);
    OK(drasync_alloc(shared, 48, &v));
    return NULL;
}

/* Everything but membarrier is let through. */
static void filter_barriers(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]),
                                      .filter = code};

    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

/* Without what the C library does when a thread ends. */
static void end_thread(int number)
{
    (void)number;
    atomic_store(&step, 3);
    syscall(SYS_exit, 0);
}

/* The region's page, with its heap, cannot be written for a while: the thread
 * is in its window when it is told so. */
static void end_in_window(void)
{
    const struct sigaction action = {.sa_handler = end_thread};
    const long page_bytes = sysconf(_SC_PAGESIZE);

    CHECK(!sigaction(SIGSEGV, &action, NULL));
    CHECK(!mprotect(shared, (size_t)page_bytes, PROT_READ));
    atomic_store(&step, 2);
    wait_for(3);
    CHECK(!mprotect(shared, (size_t)page_bytes, PROT_READ | PROT_WRITE));
}

int main(int argc, char **argv)
{
    pthread_t thread;

    check_start_threads(&argc, &argv);
    CHECK(argc == 2);
    OK(drasync_new_region(&shared));
    CHECK(!pthread_create(&thread, NULL, allocate, NULL));
    wait_for(1);
    if (!strcmp(argv[1], "filtered"))
        filter_barriers();
    else
        end_in_window();
    printf("release: %s\n", drasync_errname(drasync_release(shared)));
    fflush(stdout);
    _exit(1);
}
