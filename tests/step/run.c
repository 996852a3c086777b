/*
 * run.c - one run of a scenario: threads as coroutines, whose turn it is, the
 * clock, locks, and memory.
 */
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "engine.h"

#define STACK_BYTES ((size_t)256 << 10)
#define ARENA_BYTES ((size_t)1 << 20)
#define CLOCK_START 1000000u

struct thread {
    ucontext_t context;
    bool done, blocked, timed, yielded;
    bool (*ready)(void *arg);
    void *arg;
    uint64_t deadline_us;
};

struct run run = {.self = -1};
struct trace trace[STEPS_MAX];

static struct thread threads[STEP_THREADS];
static char (*stacks)[STACK_BYTES];
static char *arena;
static size_t arena_used;
static ucontext_t outside;
static sigjmp_buf crashed;
static struct trace scratch;

/* --- Threads -------------------------------------------------------------- */

bool run_is_stack(uintptr_t address)
{
    return address - (uintptr_t)stacks < STEP_THREADS * STACK_BYTES;
}

int step_self(void)
{
    return run.self;
}

static void body(int i)
{
    run.scenario->thread[i]();
    threads[i].done = true;
    run_point();
}

/* What it waits for is a question, and no part of the run. */
static bool is_ready(bool (*ready)(void *arg), void *arg)
{
    bool on = run.on, answer;

    run.on = false;
    answer = ready(arg);
    run.on = on;
    return answer;
}

static bool is_enabled(int i)
{
    struct thread *t = &threads[i];

    /* It may wait for a lock of its process. */
    return run.scenario->thread[i] && !t->done &&
           (!t->blocked || t->deadline_us <= run.now_us ||
            is_ready(t->ready, private_view(t->arg, run.scenario->process[i])));
}

/* May its sleep end although its time has not come? */
static bool may_time_out(int i)
{
    struct thread *t = &threads[i];

    return run.scenario->timers && run.scenario->thread[i] && !t->done &&
           t->blocked && t->timed && t->deadline_us != STEP_FOREVER;
}

static uint64_t idle_us_max(void)
{
    bool on = run.on;
    uint64_t max;

    if (!run.scenario->idle_us)
        return run.scenario->idle_us_max;
    run.on = false;
    max = run.scenario->idle_us();
    run.on = on;
    return max;
}

/* Nobody can run: let the clock reach the next timer. */
static void pass_time(void)
{
    uint64_t next = STEP_FOREVER;
    bool left = false;

    for (int i = 0; i < STEP_THREADS; i++) {
        if (!run.scenario->thread[i] || threads[i].done)
            continue;
        left = true;
        if (threads[i].deadline_us < next)
            next = threads[i].deadline_us;
    }
    if (!left)
        return;
    if (next == STEP_FOREVER)
        step_fail("all threads sleep, and no timer would wake one");
    if (next - run.now_us > idle_us_max())
        step_fail("all threads sleep for %llu us, until a timer wakes one",
                  (unsigned long long)(next - run.now_us));
    run.now_us = next;
}

/* Those who can go on, the simplest choice first: the running one, then the
 * next in order; then those whose timers may end. */
static int options_of(int *options)
{
    int count = 0, first = run.self < 0 ? 0 : run.self;

    for (int n = 0; n < STEP_THREADS; n++) {
        int i = (first + n) % STEP_THREADS;

        if (!threads[i].yielded && is_enabled(i))
            options[count++] = i;
    }
    for (int i = 0; count && i < STEP_THREADS; i++)
        if (may_time_out(i) && !is_enabled(i))
            options[count++] = i;
    return count;
}

static void switch_to(int next)
{
    int self = run.self;

    if (next == self)
        return;
    run.self = next;
    private_thread(self, next);
    swapcontext(self < 0 ? &outside : &threads[self].context,
                next < 0 ? &outside : &threads[next].context);
}

/* Whose turn is it?  -1: all have ended. */
static int next_thread(void)
{
    int options[2 * STEP_THREADS], count = options_of(options), next;

    if (!count) {
        for (int i = 0; i < STEP_THREADS; i++)
            threads[i].yielded = false;
        count = options_of(options);
    }
    if (!count) {
        pass_time();
        count = options_of(options);
    }
    if (!count)
        return -1;
    next = options[choose(CHOICE_THREAD, count, options)];
    if (!is_enabled(next))
        run.now_us = threads[next].deadline_us;
    for (int i = 0; i < STEP_THREADS; i++)
        if (i != next)
            threads[i].yielded = false;
    return next;
}

void run_point(void)
{
    if (++run.steps >= STEPS_MAX)
        step_fail("it does not end in %d steps", STEPS_MAX);
    switch_to(next_thread());
}

bool run_block(bool (*ready)(void *arg), void *arg, uint64_t deadline_us,
               bool timed)
{
    struct thread *t = &threads[run.self];

    t->ready = ready;
    t->arg = arg;
    t->deadline_us = deadline_us;
    t->timed = timed;
    t->blocked = true;
    run_point();
    t->blocked = false;
    t->deadline_us = STEP_FOREVER;
    memory_catch_up(run.self);
    return is_ready(ready, arg);
}

void run_set_deadline(int thread, uint64_t deadline_us)
{
    threads[thread].deadline_us = deadline_us;
}

void step_yield(void)
{
    threads[run.self].yielded = true;
    run_point();
    memory_catch_up(run.self);
}

bool step_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline_us,
               const char *what)
{
    run_trace(STEP_CALL, (uintptr_t)__builtin_return_address(0), 0)->what =
        what;
    return run_block(ready, arg, deadline_us, true);
}

/* --- Locks, clock, memory, notes ------------------------------------------ */

/* Nobody has it when the run begins, whatever the last one left. */
static void renew(struct step_mutex *mutex)
{
    if (mutex->run != run.number)
        *mutex = (struct step_mutex){.run = run.number};
}

static bool is_free(void *arg)
{
    return !((struct step_mutex *)arg)->owner;
}

bool step_trylock(struct step_mutex *mutex)
{
    if (run.self < 0)
        return true;
    run_point();
    renew(mutex);
    if (mutex->owner)
        return false;
    mutex->owner = run.self + 1;
    memory_lock_take(mutex);
    return true;
}

void step_lock(struct step_mutex *mutex)
{
    if (run.self < 0)
        return;
    run_point();
    renew(mutex);
    while (mutex->owner)
        run_block(is_free, mutex, STEP_FOREVER, false);
    mutex->owner = run.self + 1;
    memory_lock_take(mutex);
}

void step_unlock(struct step_mutex *mutex)
{
    if (run.self < 0)
        return;
    run_point();
    if (mutex->owner != run.self + 1)
        step_fail("a mutex is given back by a thread that does not have it");
    memory_lock_give(mutex);
    mutex->owner = 0;
}

uint64_t step_now_us(void)
{
    run.now_us += run.scenario->tick_us;
    return run.now_us;
}

void step_advance_us(uint64_t us)
{
    run.now_us += us;
}

void *step_alloc(size_t bytes)
{
    char *at = arena + arena_used;

    arena_used += (bytes + 63) & ~(size_t)63;
    if (arena_used > ARENA_BYTES)
        step_fail("the scenario needs more memory than there is");
    memset(at, 0, bytes);
    return at;
}

struct trace *run_trace(enum step_kind kind, uintptr_t pc, uintptr_t address)
{
    struct trace *t = &scratch;

    if (run.traced && run.self >= 0 && run.traces < STEPS_MAX)
        t = &trace[run.traces++];
    *t = (struct trace){.thread = (uint8_t)run.self,
                        .kind = (uint8_t)kind,
                        .pc = pc,
                        .address = address};
    return t;
}

void step_note(const char *what, uint64_t value)
{
    struct trace *t =
        run_trace(STEP_CALL, (uintptr_t)__builtin_return_address(0), 0);

    t->what = what;
    t->after = value;
}

bool step_stores_odd(int thread, uint64_t value)
{
    (void)thread;
    return value & 1;
}

bool step_stores_even(int thread, uint64_t value)
{
    (void)thread;
    return !(value & 1);
}

bool run_fault(enum step_kind kind, uintptr_t address, uint64_t value,
               enum step_effect *effect_out)
{
    const struct step_fault *f = run.fault;
    const char *name;

    if (!f || f->kind != kind)
        return false;
    name = f->at ? memory_name_of(address) : NULL;
    if (f->at && (!name || strcmp(name, f->at)))
        return false;
    if (f->applies && !f->applies(run.self, value))
        return false;
    *effect_out = f->effect;
    return run.fault_met = true;
}

/* --- The run -------------------------------------------------------------- */

void step_fail(const char *format, ...)
{
    va_list args;

    if (!run.failed) {
        va_start(args, format);
        vsnprintf(run.reason, sizeof(run.reason), format, args);
        va_end(args);
        run.failed_thread = run.self;
    }
    run.failed = true;
    if (run.self >= 0)
        switch_to(-1);
}

static void crash(int signal)
{
    (void)signal;
    if (!run.on)
        _Exit(99);
    if (!run.failed)
        snprintf(run.reason, sizeof(run.reason), "segmentation fault");
    run.failed = true;
    siglongjmp(crashed, 1);
}

static void catch_crashes(void)
{
    static char stack[1 << 16];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = crash,
                               .sa_flags = SA_ONSTACK | SA_NODEFER};

    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void start_thread(int i)
{
    struct thread *t = &threads[i];

    getcontext(&t->context);
    t->context.uc_stack.ss_sp = stacks[i];
    t->context.uc_stack.ss_size = STACK_BYTES;
    t->context.uc_link = NULL;
    makecontext(&t->context, (void (*)(void))body, 1, i);
    t->done = t->blocked = t->yielded = t->timed = false;
    t->deadline_us = STEP_FOREVER;
}

static void prepare(void)
{
    if (stacks)
        return;
    stacks = aligned_alloc(64, STEP_THREADS * STACK_BYTES);
    arena = aligned_alloc(4096, ARENA_BYTES);
    if (!stacks || !arena)
        abort();
    catch_crashes();
}

/* Before the threads: begin(), and then enter() for each process. */
static void begin(const struct step_scenario *scenario)
{
    int processes = 0;

    scenario->begin();
    for (int i = 0; i < STEP_THREADS; i++)
        if (scenario->thread[i] && scenario->process[i] >= processes)
            processes = scenario->process[i] + 1;
    private_copies();
    for (int n = 0; scenario->enter && n < processes; n++) {
        private_process(n);
        scenario->enter(n);
    }
    private_process(-1);
}

bool run_once(const struct step_scenario *scenario)
{
    prepare();
    run.scenario = scenario;
    run.number++;
    run.failed = run.fault_met = false;
    run.other_pc = 0;
    run.steps = run.traces = 0;
    run.now_us = CLOCK_START;
    run.self = -1;
    arena_used = 0;
    memory_reset();
    plain_reset();
    calls_reset();
    descriptors_reset();
    private_begin();
    run.on = true;
    if (!sigsetjmp(crashed, 1)) {
        begin(scenario);
        for (int i = 0; i < STEP_THREADS; i++)
            start_thread(i);
        if (!run.failed)
            switch_to(next_thread());
        if (!run.failed && scenario->end)
            scenario->end();
    }
    run.on = false;
    run.self = -1;
    plain_undo();
    private_end();
    return !run.failed;
}
