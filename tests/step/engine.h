/*
 * engine.h - what the files of the stepping engine share: one run, its choices,
 * its memory.  Scenarios include step.h only.
 */
#ifndef TESTS_STEP_ENGINE_H
#define TESTS_STEP_ENGINE_H

#include "step.h"

#include <stdatomic.h>

#define LOCATIONS_MAX 256 /* atomics of one run */
#define STORES_MAX    16  /* older values of one that may be read */
#define STEPS_MAX     6000
#define CHOICES_MAX   (2 * STEPS_MAX)
#define STALE_MAX     3 /* how much older a load may choose to be */
#define REASON_BYTES  400

/* --- Choices (explore.c) -------------------------------------------------- */

enum choice_kind {
    CHOICE_THREAD,
    CHOICE_VALUE,
    CHOICE_SPURIOUS,
    CHOICE_PROGRAM, /* step_choose() */
};

/* One of @options; 0 is the simplest.  Options that are threads are @threads, in
 * their order. */
int choose(enum choice_kind kind, int options, const int *threads);

/* What a run chose, and of how many. */
struct choices {
    uint32_t count;
    uint8_t picked[CHOICES_MAX];
    uint8_t options[CHOICES_MAX];
};

/* --- A run (run.c) -------------------------------------------------------- */

/* An operation, for the printed schedule. */
struct trace {
    uint8_t thread, kind;
    bool stale; /* it read an older value */
    bool fault; /* it was changed by the fault */
    uint16_t size;
    const char *what; /* of STEP_CALL */
    uintptr_t pc;
    uintptr_t address;
    uint64_t before, after;
};

struct run {
    bool on;     /* between begin and end */
    bool traced; /* keep the trace */
    bool failed;
    int self; /* the thread that runs; -1 */
    int failed_thread;
    uint64_t number;
    uint64_t now_us;
    uint32_t steps;
    uint32_t traces;
    const struct step_scenario *scenario;
    const struct step_fault *fault;
    bool audited;
    uintptr_t relaxed_pc; /* --audit: this operation has a weaker order: */
    int relaxed_order;
    bool fault_met;
    uintptr_t here_pc, other_pc; /* of a race: who noticed, and the other */
    char reason[REASON_BYTES];
};

extern struct run run;
extern struct trace trace[STEPS_MAX];

/* Run the scenario once.  True if it held. */
bool run_once(const struct step_scenario *scenario);

/* Before an operation of the running thread: choose who goes on. */
void run_point(void);

/* The running thread waits; see step_wait(). */
bool run_block(bool (*ready)(void *arg), void *arg, uint64_t deadline_us,
               bool timed);

/* A thread that waits does so until then. */
void run_set_deadline(int thread, uint64_t deadline_us);

/* The new entry of the trace, or a scratch one. */
struct trace *run_trace(enum step_kind kind, uintptr_t pc, uintptr_t address);

/* Does the fault, or the audit, change this operation of the running thread? */
bool run_fault(enum step_kind kind, uintptr_t address, uint64_t value,
               enum step_effect *effect_out);

bool run_is_stack(uintptr_t address);

/* --- What is private (private.c) ------------------------------------------ */

void private_begin(void);
void private_copies(void); /* after begin(): as it is there, for each process */
void private_end(void);

/* The data of that process, or thread, is in its place from now on. */
void private_process(int process);
void private_thread(int before, int next);

/* What that process has at @at, which is not in its place while another one's is. */
void *private_view(void *at, int process);

/* @address, or for what is private a number that differs by process. */
uintptr_t private_key(uintptr_t address);
bool private_is_local(uintptr_t address);

/* --- Memory (memory.c, plain.c) ------------------------------------------- */

/* What a thread knows, or a store carries: what came before in the sense of
 * "happens before", by thread; and of each location, the newest store seen. */
struct view {
    uint32_t clock[STEP_THREADS];
    uint16_t count, seen[LOCATIONS_MAX];
};

void memory_reset(void);
struct view *memory_now(int thread);
void memory_tick(int thread);

/* An atomic operation of the running thread; what was there. */
struct operation {
    enum step_kind kind;
    uintptr_t pc, address;
    unsigned size;
    int order, order_failed;
    bool weak;
    uint64_t value;    /* to store; or the operand */
    uint64_t expected; /* STEP_CAS */
    uint64_t (*apply)(uint64_t before, uint64_t value); /* STEP_RMW */
};
uint64_t memory_operation(struct operation *op, bool *swapped_out);
void memory_fence(int order, uintptr_t pc);

/* Each thread of the run passes a sequentially consistent fence, one after
 * another, and others go on between. */
void memory_barrier_all(void);
/* The running thread does. */
void memory_barrier(void);
/* The kernel reads a word for the running thread. */
uint64_t memory_kernel_load(uintptr_t address, unsigned size, bool *stale_out);

/* The thread has waited: by now it sees all stores. */
void memory_catch_up(int thread);

/* What a lock passes on. */
void memory_lock_take(struct step_mutex *mutex);
void memory_lock_give(struct step_mutex *mutex);

const char *memory_name_of(uintptr_t address);
void memory_forget(uintptr_t address, size_t bytes);
bool memory_is_quiet(uintptr_t address);

/* Accesses, for races.  @atomic: those do not race with each other. */
enum plain_how { PLAIN_READ, PLAIN_WRITE, PLAIN_FREE };
void plain_access(uintptr_t address, size_t bytes, enum plain_how how,
                  bool atomic, uintptr_t pc);
void plain_forget(uintptr_t address, size_t bytes);
void plain_reset(void);

/* Undo what the run wrote to static data. */
void plain_undo(void);

/* --- Calls (calls.c, descriptors.c) --------------------------------------- */

/* Before a run. */
void calls_reset(void);
void descriptors_reset(void);

/* --- Symbols (symbols.c) -------------------------------------------------- */

/* The variable at @address, and how far inside; or NULL. */
const char *symbols_name(uintptr_t address, uintptr_t *offset_out);

/* What is to be added to an address in the program's file. */
uintptr_t symbols_base(void);

/* --- Printing (report.c) -------------------------------------------------- */

/* "file:line" of each address, in @lines, "?" if not known. */
#define LINE_BYTES 160
void report_lines(const uintptr_t *pcs, size_t count,
                  char (*lines)[LINE_BYTES]);
const char *report_kind(enum step_kind kind);
/* The reason and the schedule of the failed run. */
void report_failure(const struct choices *choices);
void report_schedule_text(const struct choices *choices, char *text,
                          size_t bytes);

#endif /* TESTS_STEP_ENGINE_H */
