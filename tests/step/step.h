/*
 * step.h - drives the interleavings of lock-free code, and its memory orders.
 *
 * The code under test is compiled with -fsanitize=thread and linked with this
 * engine in place of ThreadSanitizer's library: so every atomic operation and
 * every plain read and write of it is a call here (hooks.c), and the source is
 * what users run, word for word.  Threads are coroutines, and at each atomic
 * operation or system call the engine chooses who goes on.  A load may give an
 * older value wherever C11 lets it (memory.c); two plain accesses that nothing
 * orders are a data race.  explore.c makes the choices: all of them up to so many
 * deviations from the simplest schedule, then random ones by seeds.  A schedule
 * that fails is shrunk and printed.
 *
 * What a scenario must keep to:
 *   - Same choices, same run: no clock but the engine's, no real threads.
 *   - begin() runs alone, then the threads, then end() once all have ended.
 *     Static data that instrumented code wrote is set back after each run;
 *     memory comes from step_alloc(), which is empty again for each run.
 *   - What belongs to one process of several is named to step_private().  Thread
 *     locals of instrumented code are the threads' own.
 *   - calls.h replaces the system calls; it is included before all else.
 *
 * Not modelled: reads of values that are stored later in the run (load
 * buffering), what a compiler may do around a missing atomic_signal_fence(), and
 * the orders of code that is not instrumented.
 */
#ifndef TESTS_STEP_STEP_H
#define TESTS_STEP_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_THREADS   4
#define STEP_FOREVER   UINT64_MAX
#define STEP_SCENARIOS 16

/* Operations, as faults and schedules name them. */
enum step_kind {
    STEP_LOAD,
    STEP_STORE,
    STEP_EXCHANGE,
    STEP_CAS, /* compare-exchange */
    STEP_RMW, /* fetch-and-... */
    STEP_FENCE,
    STEP_FUTEX_WAIT,
    STEP_FUTEX_WAKE,
    STEP_MEMBARRIER,
    STEP_CALL, /* any other call of calls.h, or a step_note() */
};

struct step_scenario {
    const char *title; /* a sentence that says what holds */
    void (*begin)(void);
    /* Called for each process with its step_private() data in place. */
    void (*enter)(int process);
    void (*thread[STEP_THREADS])(void);
    int process[STEP_THREADS]; /* which process the thread is of */
    void (*end)(void);

    unsigned deviations; /* all schedules with up to so many */
    uint32_t seeds;      /* then so many random ones */
    bool timers;         /* sleeps may end early, as their time may pass */
    uint64_t tick_us;    /* the clock advances so much each time it is read, */
    uint64_t yield_us;   /* and so much in sched_yield() */
    /* A run fails when all threads sleep and the next timer is further away:
     * somebody was not woken. */
    uint64_t idle_us_max;
    uint64_t (*idle_us)(void); /* the same, as things are; or NULL */
};

/* What a fault does to the operations that it applies to. */
enum step_effect {
    STEP_RELAX,       /* with memory_order_relaxed */
    STEP_SKIP,        /* not at all; a read-modify-write only reads */
    STEP_AS_EXCHANGE, /* a compare-exchange stores whatever it finds */
    STEP_SPLIT,       /* a read-modify-write is a load and a store */
    STEP_REUSE,       /* a load gives what the thread loaded there before */
};

struct step_fault {
    const char *name;  /* for --fault */
    const char *title; /* a sentence: what is wrong with it */
    enum step_kind kind;
    const char *at; /* step_name() of the location; NULL: any */
    enum step_effect effect;
    /* NULL, or whether it applies to an operation that would store @value on
     * thread @thread. */
    bool (*applies)(int thread, uint64_t value);
    /* The scenarios that may find it, a bit each; 0: all. */
    uint32_t scenarios;
};

struct step_test {
    const char *name;
    const struct step_scenario *scenarios;
    size_t scenarios_count;
    const struct step_fault *faults;
    size_t faults_count;
};

/* The test of a file whose tables are scenarios, with SCENARIOS rows, and
 * faults. */
#define STEP_TEST(what)                                                       \
    {                                                                         \
        .name = (what), .scenarios = scenarios, .scenarios_count = SCENARIOS, \
        .faults = faults, .faults_count = sizeof(faults) / sizeof(faults[0]), \
    }

/*
 * Run a test: each scenario must hold, and each fault be found.  Prints TAP;
 * returns the status for exit().  Arguments:
 *   --fault=NAME       with this fault
 *   --scenario=N       only that one, from 1
 *   --seeds=FROM:TO    only random schedules, these
 *   --schedule=TEXT    only this one, as a failure printed it
 *   --audit            which memory orders matter: relax them one by one
 */
int step_main(const struct step_test *test, int argc, char **argv);

/* For step_fault.applies: operations that would store an odd value, which in a
 * word of a biased lock says "inside"; or an even one. */
bool step_stores_odd(int thread, uint64_t value);
bool step_stores_even(int thread, uint64_t value);

/* --- For scenarios -------------------------------------------------------- */

/* The run has failed.  Does not return on a thread. */
void step_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define STEP_TEXT_OF(x) #x
#define STEP_TEXT(x)    STEP_TEXT_OF(x)
#define STEP_CHECK(x)                                                  \
    do {                                                               \
        if (!(x))                                                      \
            step_fail("%s", __FILE__ ":" STEP_TEXT(__LINE__) ": " #x); \
    } while (0)

/* The calling thread, or -1 in begin() and end(). */
int step_self(void);

/* One of 0 to @options - 1, where 0 is the simplest: for begin() of scenarios
 * that make up what their threads do.  It is part of the schedule. */
int step_choose(int options);

/* Zeroed memory until the end of the run. */
void *step_alloc(size_t bytes);

/* @ptr is given back: whoever uses it from now on, or may still be using it,
 * is at fault.  And it is new, whoever had it before. */
void step_free(void *ptr, size_t bytes);
void step_fresh(void *ptr, size_t bytes);

/* What schedules and faults call the atomic at @ptr; a variable's own name needs
 * no saying. */
void step_name(const volatile void *ptr, const char *name);

/* No choice at operations there: nothing depends on them (counters). */
void step_quiet(const volatile void *ptr, size_t bytes);

/* Each process has its own; before step_main(). */
void step_private(void *ptr, size_t bytes);

/* Let the others go on first, if any can. */
void step_yield(void);

/* Wait until @ready, or the clock is at @deadline_us.  True if it is ready.
 * Orders nothing. */
bool step_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline_us,
               const char *what);

/* A mutex, zero when new; orders as one.  begin() and end(), which run alone, get
 * it at once, even if a thread that ended kept it. */
struct step_mutex {
    int owner; /* thread + 1 */
    int slot;  /* of its clock, + 1; for this run only */
    uint64_t run;
};
void step_lock(struct step_mutex *mutex);
bool step_trylock(struct step_mutex *mutex);
void step_unlock(struct step_mutex *mutex);

/* The engine's clock. */
uint64_t step_now_us(void);
void step_advance_us(uint64_t us);

/* A line in the printed schedule. */
void step_note(const char *what, uint64_t value);

#endif /* TESTS_STEP_STEP_H */
