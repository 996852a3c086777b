/* Whether another process lives, also when there is no descriptor left. */
#include "runtime/peer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static void require(int good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static void *pause_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* A child that lives until it is killed; with @leaderless its first thread has
 * ended, and another goes on. */
static struct process child(int leaderless)
{
    struct process process = {.fd = -1};
    pthread_t thread;

    process.pid = fork();
    require(process.pid >= 0, "no child");
    if (!process.pid) {
        if (leaderless && !pthread_create(&thread, NULL, pause_for_ever, NULL))
            pthread_exit(NULL);
        pause_for_ever(NULL);
    }
    process.start_ticks = process_start_ticks(process.pid);
    return process;
}

/* Kill it and wait until it has ended, but leave it to be asked for. */
static void kill_child(const struct process *process)
{
    siginfo_t info;

    require(!kill(process->pid, SIGKILL), "it cannot be killed");
    require(!waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOWAIT),
            "it does not end");
}

static void reap(const struct process *process)
{
    require(waitpid(process->pid, NULL, 0) == process->pid, "it is not there");
}

static rlim_t limit_files(rlim_t count)
{
    struct rlimit limit;
    rlim_t before;

    require(!getrlimit(RLIMIT_NOFILE, &limit), "no limit");
    before = limit.rlim_cur;
    limit.rlim_cur = count;
    require(!setrlimit(RLIMIT_NOFILE, &limit), "no other limit");
    return before;
}

/* The state in /proc/PID/stat, when it is @state. */
static void wait_for_state(int pid, char state)
{
    char path[32], text[256], now = 0;

    while (now != state) {
        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        FILE *f = fopen(path, "re");
        require(f && fgets(text, sizeof(text), f), path);
        fclose(f);
        now = strrchr(text, ')')[2];
    }
}

/* Life and end of a child, with a descriptor of it or not. */
static void one_life(int held, const char *how)
{
    struct process process = child(0);
    char what[128];
    int good;

    if (held)
        process_hold(&process);
    good = !process_ended(&process);
    kill_child(&process);
    good = good && process_ended(&process);
    reap(&process);
    good = good && process_ended(&process);
    snprintf(what, sizeof(what), "one that lives, ended, and is gone, %s", how);
    tap_ok(good, what);
    process_drop(&process);
}

static void another_start(void)
{
    struct process process = child(0);

    process.start_ticks--;
    tap_ok(process_ended(&process), "a number that another process has now");
    process.start_ticks = 0;
    tap_ok(!process_ended(&process), "one whose start is not known lives");
    process.start_ticks = 1;
    process_hold(&process);
    tap_ok(process_ended(&process) && process.fd < 0,
           "no descriptor of another process is held on to");
    kill_child(&process);
    reap(&process);
}

static void leaderless(int held)
{
    struct process process = child(1);
    int good;

    wait_for_state(process.pid, 'Z');
    if (held)
        process_hold(&process);
    good = !process_ended(&process);
    kill_child(&process);
    tap_ok(good && process_ended(&process),
           held ? "one whose first thread has ended lives"
                : "and so it does by its number");
    reap(&process);
    process_drop(&process);
}

static void no_descriptors(void)
{
    struct process held = child(0), other = child(0);
    rlim_t before;
    int good;

    process_hold(&held);
    before = limit_files(3); /* those that are open already */
    good = !process_ended(&held) && !process_ended(&other);
    tap_ok(good, "without a descriptor to open, those who live are not dead");
    kill_child(&held);
    kill_child(&other);
    good = process_ended(&held);
    reap(&held);
    reap(&other);
    tap_ok(good && process_ended(&held) && process_ended(&other),
           "and those who are gone are");
    process_hold(&other);
    limit_files(before);
    tap_ok(other.fd < 0, "nothing is held where few may be");
    process_drop(&held);
}

/* The program closes all that it does not know, and opens its own. */
static void closed(void)
{
    struct process process = child(0);
    int ends[2], fd;

    process_hold(&process);
    fd = process.fd;
    require(!pipe(ends) && write(ends[1], "", 1) == 1, "no pipe");
    if (fd >= 0)
        require(dup2(ends[0], fd) == fd, "no other file there");
    tap_ok(!process_ended(&process), "a file that is ready says nothing");
    tap_ok(process.fd < 0 && (fd < 0 || fcntl(fd, F_GETFD) >= 0),
           "and is left alone");
    kill_child(&process);
    tap_ok(process_ended(&process), "the end is seen all the same");
    reap(&process);
}

int main(void)
{
    one_life(1, "by a descriptor");
    one_life(0, "by its number");
    another_start();
    leaderless(1);
    leaderless(0);
    no_descriptors();
    closed();
    return tap_end();
}
