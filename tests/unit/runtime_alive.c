/* A word that is marked as soon as a process begins to end. */
#include "runtime/alive.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/futex.h"
#include "tap.h"

static struct shared {
    struct alive alive;
    _Atomic uint32_t step; /* of the child */
} * shared;

static void reach(uint32_t step)
{
    atomic_store(&shared->step, step);
    wait_futex_wake(&shared->step, 1);
}

static void await(uint32_t step)
{
    uint32_t now;

    while ((now = atomic_load(&shared->step)) < step)
        wait_futex(&shared->step, now, WAIT_FOREVER);
}

static void *take(void *give)
{
    REQUIRE(alive_take(&shared->alive));
    if (!give)
        return NULL;
    reach(1);
    await(2);
    alive_give(&shared->alive);
    return NULL;
}

/* Take it, and pause for ever. */
static void *stand(void *unused)
{
    REQUIRE(alive_take(&shared->alive));
    reach(1);
    for (;;)
        pause();
    return unused;
}

/* A child whose second thread does @run, and which lives until it is killed. */
static pid_t child(void *(*run)(void *), void *arg)
{
    pthread_t thread;

    *shared = (struct shared){0};
    REQUIRE(!alive_init(&shared->alive));
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid)
        return pid;
    alarm(60);
    if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
        _exit(1);
    reach(3);
    for (;;)
        pause();
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    REQUIRE(waitpid(pid, NULL, 0) == pid);
}

/* Wait until @alive has fallen or cannot be told. */
static bool await_end(void)
{
    while (!alive_fell(&shared->alive))
        if (!alive_wait(&shared->alive, WAIT_FOREVER))
            return false;
    return true;
}

static void *kill_later(void *pid)
{
    usleep(20000);
    kill((pid_t)(intptr_t)pid, SIGKILL);
    return NULL;
}

static _Atomic int waits;

static void *wait_once(void *unused)
{
    REQUIRE(alive_wait(&shared->alive, WAIT_FOREVER));
    atomic_fetch_add(&waits, 1);
    return unused;
}

static void *wait_given(void *unused)
{
    REQUIRE(!await_end());
    return unused;
}

static void test_kill(void)
{
    pthread_t thread;
    pid_t pid = child(stand, NULL);

    await(1);
    tap_ok(!alive_fell(&shared->alive), "a process that lives stands");
    REQUIRE(!pthread_create(&thread, NULL, kill_later, (void *)(intptr_t)pid));
    tap_ok(await_end(), "who waits is woken when it is killed");
    REQUIRE(!pthread_join(thread, NULL));
    REQUIRE(waitpid(pid, NULL, 0) == pid);
    tap_ok(alive_fell(&shared->alive) && alive_wait(&shared->alive, 0),
           "and who comes later need not wait");
}

static void test_thread(void)
{
    pid_t pid = child(take, NULL);

    await(3);
    tap_ok(await_end() && !kill(pid, 0),
           "it is marked by the end of a thread, not of the process");
    end(pid);
}

static void test_give(void)
{
    pid_t pid = child(take, shared);

    await(1);
    reach(2);
    await(3);
    tap_ok(!await_end(), "what was given is not waited for");
    end(pid);
    tap_ok(!alive_fell(&shared->alive), "and does not fall");
}

static void test_wake(void)
{
    pthread_t thread[2];
    pid_t pid = child(stand, NULL);

    await(1);
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, wait_once, NULL));
    while (atomic_load(&waits) < 2) {
        alive_wake(&shared->alive);
        usleep(1000);
    }
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_join(thread[i], NULL));
    tap_ok(!alive_fell(&shared->alive),
           "all who wait can be woken for another reason");
    end(pid);
}

static void test_give_several(void)
{
    pthread_t thread[2];
    pid_t pid = child(take, shared);

    await(1);
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, wait_given, NULL));
    usleep(20000); /* so that they sleep, as a rule */
    reach(2);
    for (int i = 0; i < 2; i++)
        REQUIRE(!pthread_join(thread[i], NULL));
    tap_ok(!alive_fell(&shared->alive),
           "all who wait are told that it is given");
    end(pid);
}

static void test_nobody(void)
{
    *shared = (struct shared){0};
    REQUIRE(!alive_init(&shared->alive));
    tap_ok(!alive_wait(&shared->alive, WAIT_FOREVER) &&
               !alive_fell(&shared->alive),
           "nobody stands yet: at once");
    alive_refuse(&shared->alive);
    tap_ok(!alive_wait(&shared->alive, WAIT_FOREVER) &&
               !alive_fell(&shared->alive),
           "nobody ever will: at once");
}

/* Does the system tell where the word is? */
static bool can_be(void)
{
    static struct alive alive;

    if (alive_init(&alive) || !alive_take(&alive))
        return false;
    alive_give(&alive);
    return true;
}

int main(void)
{
    if (!can_be()) {
        tap_skip("a word for a process", "get_robust_list() is refused here");
        return tap_end();
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    alarm(60);
    test_kill();
    test_thread();
    test_give();
    test_wake();
    test_give_several();
    test_nobody();
    return tap_end();
}
