/*
 * Runs a program and kills it with SIGKILL so many instructions after a thread
 * of it came to a function of a library, or some time after that.  So a rank can
 * die between any two stores, with no hook in what is tested.
 *
 * kill_at LIBRARY FUNCTION PASSAGE STEPS DELAY_US OVER PROGRAM [ARGUMENTS]
 *
 * FUNCTION and OVER are addresses of functions in the file LIBRARY, as nm prints
 * them; LIBRARY is part of the name in /proc/PID/maps.  PASSAGE counts from 1.
 * The thread that comes there for that time makes STEPS instructions; then
 * DELAY_US microseconds pass.  Once a thread has come to OVER nothing is killed.
 * The last line on stderr says what was done.  Needs an x86-64 machine: status 77
 * on others.
 */
#include <stdio.h>

#ifndef __x86_64__

int main(void)
{
    fprintf(stderr, "kill_at: knows only x86-64\n");
    return 77;
}

#else

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define BREAKPOINT 0xcc

/* An instruction that is replaced by a breakpoint. */
struct place {
    uint64_t address;
    uint8_t was;
    bool armed;
};

static pid_t child;
static struct place at, over;
static long passage_wanted, steps_wanted, delay_us, passages;
static bool killed;
static volatile sig_atomic_t time_is_up;

static void fail(const char *what)
{
    perror(what);
    if (child > 0)
        kill(child, SIGKILL);
    exit(99);
}

static long trace(enum __ptrace_request what, pid_t thread, uint64_t address,
                  uint64_t data)
{
    errno = 0;
    long result = ptrace(what, thread, (void *)address, (void *)data);
    /* A thread that is gone: another one has ended the process. */
    if (result == -1 && errno && errno != ESRCH)
        fail("kill_at: ptrace");
    return result;
}

/* Puts @byte there; what was there before. */
static uint8_t exchange(pid_t thread, uint64_t address, uint8_t byte)
{
    uint64_t word = (uint64_t)trace(PTRACE_PEEKTEXT, thread, address, 0);

    trace(PTRACE_POKETEXT, thread, address, (word & ~UINT64_C(0xff)) | byte);
    return (uint8_t)word;
}

static void arm(pid_t thread, struct place *place)
{
    if (!place->armed)
        place->was = exchange(thread, place->address, BREAKPOINT);
    place->armed = true;
}

static void disarm(pid_t thread, struct place *place)
{
    if (place->armed)
        exchange(thread, place->address, place->was);
    place->armed = false;
}

/* One instruction of @thread, with the signals that come meanwhile. */
static bool step(pid_t thread)
{
    uint64_t signal = 0;
    int status;

    do {
        trace(PTRACE_SINGLESTEP, thread, 0, signal);
        if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
            return false;
        signal = status >> 16 ? 0 : (uint64_t)WSTOPSIG(status);
    } while (signal != SIGTRAP);
    return true;
}

static uint64_t entry_of(pid_t pid)
{
    Elf64_auxv_t entry;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY);
    while (read(fd, &entry, sizeof(entry)) == (ssize_t)sizeof(entry)) {
        if (entry.a_type == AT_ENTRY) {
            close(fd);
            return entry.a_un.a_val;
        }
    }
    fail("kill_at: auxv");
    return 0;
}

/* Where @library begins in the process. */
static uint64_t base_of(pid_t pid, const char *library)
{
    char path[64], line[4096];
    uint64_t base = 0;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    while (maps && !base && fgets(line, sizeof(line), maps))
        if (strstr(line, library))
            base = strtoull(line, NULL, 16);
    if (!base)
        fail("kill_at: library");
    fclose(maps);
    return base;
}

/* Goes on behind a breakpoint that it stands on. */
static void back(pid_t thread, struct user_regs_struct *regs)
{
    regs->rip--;
    trace(PTRACE_SETREGS, thread, 0, (uint64_t)regs);
}

static void start(const char *library)
{
    struct user_regs_struct regs;
    struct place entry = {0};
    int status;

    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("kill_at: start");
    trace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    entry.address = entry_of(child);
    arm(child, &entry);
    trace(PTRACE_CONT, child, 0, 0);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("kill_at: entry");
    disarm(child, &entry);
    trace(PTRACE_GETREGS, child, 0, (uint64_t)&regs);
    back(child, &regs);
    at.address += base_of(child, library);
    over.address += base_of(child, library);
    arm(child, &at);
    arm(child, &over);
    trace(PTRACE_CONT, child, 0, 0);
}

static void end(void)
{
    killed = true;
    fprintf(stderr, "kill_at: kills process %d\n", (int)child);
    kill(child, SIGKILL);
}

static void reached(pid_t thread)
{
    struct itimerval timer = {.it_value = {.tv_sec = delay_us / 1000000,
                                           .tv_usec = delay_us % 1000000}};

    disarm(thread, &at);
    for (long i = 0; i < steps_wanted; i++)
        if (!step(thread))
            return;
    if (delay_us)
        setitimer(ITIMER_REAL, &timer, NULL);
    else
        end();
}

/* @thread stands on a breakpoint: what it is to go on with. */
static uint64_t trapped(pid_t thread)
{
    struct user_regs_struct regs = {0};

    trace(PTRACE_GETREGS, thread, 0, (uint64_t)&regs);
    if (regs.rip - 1 == over.address) {
        const struct itimerval never = {0};

        back(thread, &regs);
        disarm(thread, &over);
        disarm(thread, &at);
        setitimer(ITIMER_REAL, &never, NULL);
        return 0;
    }
    if (regs.rip - 1 != at.address)
        return SIGTRAP;
    back(thread, &regs);
    if (!at.armed)
        return 0;
    if (++passages == passage_wanted) {
        reached(thread);
    } else {
        disarm(thread, &at);
        if (step(thread))
            arm(thread, &at);
    }
    return 0;
}

static void ring(int unused)
{
    (void)unused;
    time_is_up = 1;
}

/* Until all its threads are gone; what waitpid() says of the first one. */
static int serve(void)
{
    int status, last = 0;

    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);

        if (time_is_up && !killed)
            end();
        if (thread < 0 && errno == EINTR)
            continue;
        if (thread < 0)
            return last;
        if (!WIFSTOPPED(status)) {
            last = thread == child ? status : last;
            continue;
        }
        uint64_t signal = status >> 16 ? 0 : (uint64_t)WSTOPSIG(status);
        if (signal == SIGTRAP)
            signal = trapped(thread);
        else if (signal == SIGSTOP)
            signal = 0; /* a new thread */
        trace(PTRACE_CONT, thread, 0, signal);
    }
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = ring};

    if (argc < 8) {
        fprintf(stderr, "kill_at: see kill_at.c\n");
        return 2;
    }
    at.address = strtoull(argv[2], NULL, 16);
    passage_wanted = strtol(argv[3], NULL, 10);
    steps_wanted = strtol(argv[4], NULL, 10);
    delay_us = strtol(argv[5], NULL, 10);
    over.address = strtoull(argv[6], NULL, 16);
    child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[7], argv + 7);
        _exit(127);
    }
    sigaction(SIGALRM, &action, NULL);
    start(argv[1]);
    int status = serve();
    if (!killed)
        fprintf(stderr, "kill_at: killed nothing, %ld passages\n", passages);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
