/* libupm.so beside what a program does with signals, system calls, processes and
 * threads, on a machine that the test makes up. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "memory/sanitizer.h"
#include "upm_machine.h"

static sigjmp_buf jump;
static volatile char *volatile wrong = (char *)16; /* not mapped */
static _Atomic int handled;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_fetch_add(&handled, 1);
    touch(2, 3, 4); /* a hot page, in the program's handler */
    if (info->si_addr == wrong)
        siglongjmp(jump, 1);
}

/* The program's own fault: is it handled once, by its own handler? */
static int own_fault(void)
{
    int before = atomic_load(&handled);

    if (!sigsetjmp(jump, 1))
        *wrong = 1;
    return atomic_load(&handled) == before + 1;
}

static void test_handlers(void)
{
    struct sigaction action = {.sa_sigaction = on_fault}, seen;
    sigset_t all, before;

    begin();
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(own_fault(), "a handler of before gets the program's own faults");
    signal(SIGSEGV, SIG_DFL);
    sigaction(SIGSEGV, NULL, &seen);
    tap_ok(seen.sa_handler == SIG_DFL,
           "the program sees the handler that it set");
    sigaction(SIGSEGV, &action, &seen);
    tap_ok(own_fault(), "so does one that comes later");
    touch(1, 0, PAGES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    upmlib_migrate_memory();
    touch(1, 0, 3);
    touch(1, 4, PAGES);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    tap_ok(are_on(1, 0, 3) && are_on(2, 3, 4),
           "pages are counted in a handler, and where all signals are blocked");
    pid_t child = fork();
    int status = 0;
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        *wrong = 1;
        _exit(0);
    }
    waitpid(child, &status, 0);
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
           "without a handler the program ends by its own fault");
    signal(SIGSEGV, SIG_DFL);
}

static volatile sig_atomic_t touched;

static void touch_in_handler(int number)
{
    (void)number;
    touch(1, 0, PAGES);
    touched = 1;
}

/* What blocks SIGSEGV was asked for before pages were protected, or is another
 * signal's handler. */
static void test_masks(void)
{
    struct sigaction action = {.sa_handler = touch_in_handler};
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    touch(1, 0, PAGES);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    tap_ok(1, "pages are counted where signals were blocked before");
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    upmlib_migrate_memory();
    raise(SIGUSR1);
    tap_ok(touched, "and in a handler during which all are blocked");
    signal(SIGUSR1, SIG_DFL);
    upmlib_end();
}

sighandler_t __sysv_signal(int number, sighandler_t handler);

/* signal() of programs in strict ISO C. */
static void test_strict_signal(void)
{
    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    __sysv_signal(SIGSEGV, SIG_DFL);
    touch(1, 0, PAGES);
    tap_ok(1, "signal() of strict ISO C leaves our handler where it is");
    upmlib_end();
}

static void test_system_calls(void)
{
    char path[] = "/tmp/upm_library.XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "r+");
    size_t bytes = PAGES * UPM_PAGE_BYTES;
    int good = 1;

    begin();
    unlink(path);
    memset(arena, 7, bytes);
    upmlib_memrefcnt(arena, bytes);
    for (int i = 0; i < 100; i++) {
        good &= pwrite(fd, arena, bytes, 0) == (ssize_t)bytes;
        upmlib_migrate_memory(); /* all is armed again */
        upmlib_memrefcnt(arena, 0);
        upmlib_memrefcnt(arena, bytes);
        good &= pread(fd, arena, bytes, 0) == (ssize_t)bytes;
    }
    tap_ok(good && arena[bytes - 1] == 7,
           "system calls may use protected pages");
    upmlib_memrefcnt(arena, 0);
    upmlib_memrefcnt(arena, bytes);
    tap_ok(fwrite(arena, 1, bytes, file) == bytes, "and so may fwrite()");
    fclose(file);
}

/* A socket with a name of its own, which is written to @name. */
static int named(struct sockaddr_un *name, socklen_t *length)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    *length = sizeof(*name);
    name->sun_family = AF_UNIX;
    if (bind(fd, (struct sockaddr *)name, sizeof(name->sun_family)) ||
        getsockname(fd, (struct sockaddr *)name, length))
        return -1;
    return fd;
}

/* Names, headers and vectors of messages lie on hot pages of their own. */
static void test_messages(void)
{
    struct sockaddr_un *name = (void *)arena;
    socklen_t *length = (void *)(arena + UPM_PAGE_BYTES), own;
    struct msghdr *message = (void *)(arena + 2 * UPM_PAGE_BYTES);
    struct iovec *vector = (void *)(arena + 3 * UPM_PAGE_BYTES);
    struct sockaddr_un other;
    size_t bytes = PAGES * UPM_PAGE_BYTES;
    int from = named(&other, &own), to = named(name, &own);
    char letter = 'x';
    int good = from >= 0 && to >= 0;

    begin();
    *length = sizeof(*name);
    upmlib_memrefcnt(arena, bytes);
    good &= sendto(from, &letter, 1, 0, (void *)name, own) == 1;
    upmlib_memrefcnt(arena, 0);
    upmlib_memrefcnt(arena, bytes);
    good &= recvfrom(to, &letter, 1, 0, (void *)name, length) == 1;
    tap_ok(good && *length > 2 && !memcmp(name, &other, *length),
           "whom data is for and from may stand on protected pages");
    upmlib_memrefcnt(arena, 0);
    connect(from, (void *)name, 0);
    getsockname(to, (void *)name, &own);
    *vector = (struct iovec){&letter, 1};
    *message = (struct msghdr){.msg_name = name,
                               .msg_namelen = own,
                               .msg_iov = vector,
                               .msg_iovlen = 1};
    upmlib_memrefcnt(arena, bytes);
    good &= sendmsg(from, message, 0) == 1;
    upmlib_memrefcnt(arena, 0);
    message->msg_namelen = sizeof(*name);
    upmlib_memrefcnt(arena, bytes);
    good &= recvmsg(to, message, 0) == 1;
    tap_ok(good && !memcmp(name, &other, message->msg_namelen),
           "and so may the headers of messages");
    upmlib_memrefcnt(arena, 0);
    close(from);
    close(to);
}

/* The program unmaps the first page of an area. */
static void test_hole(void)
{
    size_t bytes = PAGES * UPM_PAGE_BYTES;
    int ends[2];
    size_t open = 0;

    begin();
    upmlib_memrefcnt(arena, bytes);
    munmap(arena, UPM_PAGE_BYTES);
    upmlib_memrefcnt(arena, 0);
    /* Past what holds and opens pages for system calls. */
    if (!pipe(ends))
        for (size_t i = 1; i < PAGES; i++)
            open += syscall(SYS_write, ends[1], arena + i * UPM_PAGE_BYTES,
                            1L) == 1;
    tap_ok(open == PAGES - 1, "what is left of an area with a hole is opened");
    mmap(arena, UPM_PAGE_BYTES, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    close(ends[0]);
    close(ends[1]);
}

static void *set_handlers(void *over)
{
    struct sigaction action;

    while (!atomic_load((_Atomic bool *)over))
        sigaction(SIGSEGV, NULL, &action);
    return NULL;
}

static void test_fork_beside_handlers(void)
{
    _Atomic bool over = false;
    pthread_t thread;
    int good = 1;

    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    pthread_create(&thread, NULL, set_handlers, &over);
    for (int i = 0; i < 200 && good; i++) {
        int status = 1;
        pid_t child = fork();

        if (!child) {
            alarm(10);
            signal(SIGSEGV, SIG_DFL);
            _exit(0);
        }
        waitpid(child, &status, 0);
        good = status == 0;
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    tap_ok(good, "children may set handlers, whatever threads did at the fork");
}

static void *touch_and_end(void *argument)
{
    touch(3, 0, 2);
    return argument;
}

static void test_processes(void)
{
    int status = 1;
    pthread_t thread;

    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    pid_t child = fork();
    if (!child) {
        touch(1, 0, PAGES);
        struct upmlib_stats now = stats();
        int good = !now.counting && now.why && upmlib_migrate_memory() == 0 &&
                   upmlib_record() == 0 && threads_are(1);
        upmlib_end();
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    tap_ok(status == 0,
           "a child of fork() touches its pages and moves nothing");
    pthread_create(&thread, NULL, touch_and_end, NULL);
    pthread_join(thread, NULL);
    tap_ok(upmlib_migrate_memory() == 2 && are_on(3, 0, 2),
           "what a thread touched counts though it has ended");
}

/* Threads touch pages while they are armed, moved and dropped. */
static void *touch_on(void *argument)
{
    while (!atomic_load((_Atomic bool *)argument)) {
        for (size_t i = 0; i < 2 * PAGES; i++)
            __atomic_fetch_add(arena + i * UPM_PAGE_BYTES, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void test_threads(void)
{
    _Atomic bool over = false;
    pthread_t thread[3];
    int err = 0;

    begin();
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, touch_on, &over);
    for (int i = 0; i < 300; i++) {
        err |= upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
        err |= upmlib_memrefcnt(arena + PAGES * UPM_PAGE_BYTES,
                                PAGES * UPM_PAGE_BYTES);
        err |= upmlib_migrate_memory() < 0;
        err |= upmlib_record();
        err |= upmlib_record();
        err |= upmlib_replay() < 0;
        err |= upmlib_undo() < 0;
        err |= upmlib_memrefcnt(arena, 0);
        err |= upmlib_memrefcnt(arena + PAGES * UPM_PAGE_BYTES, 0);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    tap_ok(!err, "threads touch areas while these come and go");
}

int main(void)
{
#if SANITIZER_THREAD
    tap_skip("handlers, system calls, processes, threads",
             "ThreadSanitizer calls a program's handlers later, where they "
             "cannot jump out of a fault");
    return tap_end();
#endif
    make_arena();
    test_handlers();
    test_masks();
    test_strict_signal();
    test_system_calls();
    test_messages();
    test_hole();
    test_fork_beside_handlers();
    test_processes();
    test_threads();
    upmlib_end();
    return tap_end();
}
