/*
 * memory.c - atomics and fences as C11 has them.
 *
 * Each location keeps its last stores in modification order.  A thread's view
 * says which of each it has seen; a load may give any that is not older than
 * that, a store or read-modify-write may come before newer ones as if those had
 * been late, and a store carries its thread's view to whoever acquires it.  Sequentially consistent operations also
 * go through one view of all of them (`total`): such a load sees at least the
 * last such store or load, and a fence exchanges all that its thread has seen.
 * So a missing release or acquire shows as a race or an old value, and a missing
 * fence as two threads that both miss each other's store.
 */
#include <string.h>

#include "audit.h"
#include "memory.h"

#define LOCKS_MAX 64

/* Of each thread: what it knows; what it would know after an acquire fence; what
 * it knew at its last release fence. */
static struct view now[STEP_THREADS], pending[STEP_THREADS],
    released[STEP_THREADS];
static struct view total;
/* The position of what the thread reads of each location, if not the newest. */
static uint16_t behind[STEP_THREADS][LOCATIONS_MAX];
static struct view locks[LOCKS_MAX];
static int locks_count;
/* For STEP_REUSE. */
static uint64_t loaded[STEP_THREADS][LOCATIONS_MAX];
static bool has_loaded[STEP_THREADS][LOCATIONS_MAX];

void memory_reset(void)
{
    locations_reset();
    locks_count = 0;
    memset(behind, 0, sizeof(behind));
    memset(has_loaded, 0, sizeof(has_loaded));
    memset(now, 0, sizeof(now));
    memset(pending, 0, sizeof(pending));
    memset(released, 0, sizeof(released));
    memset(&total, 0, sizeof(total));
    for (int i = 0; i < STEP_THREADS; i++)
        now[i].clock[i] = 1;
}

struct view *memory_now(int thread)
{
    return &now[thread];
}

void memory_tick(int thread)
{
    now[thread].clock[thread]++;
}

static void join_seen(struct view *a, const struct view *b)
{
    uint16_t i = 0;

    for (; i < a->count && i < b->count; i++)
        if (b->seen[i] > a->seen[i])
            a->seen[i] = b->seen[i];
    for (; i < b->count; i++)
        a->seen[a->count++] = b->seen[i];
}

static void join(struct view *a, const struct view *b)
{
    for (int i = 0; i < STEP_THREADS; i++)
        if (b->clock[i] > a->clock[i])
            a->clock[i] = b->clock[i];
    join_seen(a, b);
}

static void copy(struct view *to, const struct view *from)
{
    memcpy(to->clock, from->clock, sizeof(to->clock));
    memcpy(to->seen, from->seen, from->count * sizeof(to->seen[0]));
    to->count = from->count;
}

/* --- Operations ----------------------------------------------------------- */

static bool is_acquire(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
           order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

/* The running thread reads @s. */
static uint64_t read_store(struct location *l, const struct store *s, int order)
{
    struct view *mine = &now[run.self];

    see(mine, l, s->position);
    join(is_acquire(order) ? mine : &pending[run.self], &s->view);
    if (order == __ATOMIC_SEQ_CST)
        see(&total, l, s->position);
    return s->value;
}

/* It stores, after store @after; @read: in a read-modify-write that read that. */
static void write_store(struct location *l, uint64_t value, int order,
                        int after, bool read)
{
    struct view *mine = &now[run.self];
    static struct view earlier;
    struct store *s;

    if (read)
        copy(&earlier, &store_at(l, after)->view);
    s = store_new(l, after, read);
    see(mine, l, s->position);
    copy(&s->view, is_release(order) ? mine : &released[run.self]);
    if (read)
        join(&s->view, &earlier);
    see(&s->view, l, s->position);
    s->value = value;
    if (order == __ATOMIC_SEQ_CST)
        see(&total, l, s->position);
    if (s == newest(l))
        real_store(l->address, l->size, value);
    else
        behind[run.self][location_number(l)] = s->position;
    memory_tick(run.self);
}

/* The oldest store that the running thread may read, or store after. */
static int oldest(const struct location *l, int order)
{
    uint32_t from = seen(&now[run.self], l);
    int i = l->count - 1;

    if (order == __ATOMIC_SEQ_CST && seen(&total, l) > from)
        from = seen(&total, l);
    while (i > 0 && i >= l->count - STALE_MAX &&
           store_at(l, i)->position > from)
        i--;
    return i;
}

enum use { TO_READ, TO_MODIFY, TO_STORE };

/* Which store the running thread reads, or stores after.  What it chose not to
 * see it goes on not to see, until it waits: so a thread that others' stores
 * reach late, or whose own are late, is one deviation. */
static int pick(struct location *l, int order, enum use use)
{
    uint16_t *kept = &behind[run.self][location_number(l)];
    int options[STALE_MAX + 2], count = 0, n;

    options[count++] = l->count - 1;
    for (int i = l->count - 2; i >= oldest(l, order); i--)
        if (use == TO_READ || store_has_room(l, i, use == TO_MODIFY))
            options[count++] = i;
    for (int i = 1; i < count; i++)
        if (use == TO_READ && store_at(l, options[i])->position == *kept) {
            n = options[i];
            memmove(options + 1, options, (size_t)i * sizeof(options[0]));
            options[0] = n;
        }
    n = options[choose(CHOICE_VALUE, count, NULL)];
    if (use == TO_READ)
        *kept = n < l->count - 1 ? store_at(l, n)->position : 0;
    return n;
}

static uint64_t load(struct location *l, int order, bool *stale_out)
{
    int n = pick(l, order, TO_READ);

    *stale_out = n < l->count - 1;
    return read_store(l, store_at(l, n), order);
}

void memory_catch_up(int thread)
{
    memset(behind[thread], 0, sizeof(behind[thread]));
}

/* A compare-exchange.  It fails with an older value, or, if weak, for no
 * reason. */
static uint64_t compare_exchange(struct location *l, const struct operation *op,
                                 struct trace *t, bool *swapped_out)
{
    int n = pick(l, op->order, TO_MODIFY);

    *swapped_out = false;
    t->stale = n < l->count - 1;
    if (store_at(l, n)->value != op->expected)
        return read_store(l, store_at(l, n), op->order_failed);
    if (op->weak && choose(CHOICE_SPURIOUS, 2, NULL))
        return read_store(l, store_at(l, n), op->order_failed);
    *swapped_out = true;
    read_store(l, store_at(l, n), op->order);
    write_store(l, op->value, op->order, n, true);
    return op->expected;
}

static uint64_t read_modify_write(struct location *l,
                                  const struct operation *op, struct trace *t,
                                  bool split)
{
    int n = pick(l, op->order, TO_MODIFY);
    uint64_t before = read_store(l, store_at(l, n), op->order);

    t->stale = n < l->count - 1;
    if (split) {
        run_point();
        n = l->count - 1;
    }
    write_store(l,
                op->kind == STEP_RMW ? op->apply(before, op->value) : op->value,
                op->order, n, !split);
    return before;
}

static uint64_t store(struct location *l, const struct operation *op,
                      struct trace *t)
{
    int n = pick(l, op->order, TO_STORE);
    uint64_t before = store_at(l, n)->value;

    t->stale = n < l->count - 1;
    write_store(l, op->value, op->order, n, false);
    return before;
}

static uint64_t operate(struct location *l, const struct operation *op,
                        struct trace *t, bool *swapped_out)
{
    *swapped_out = true;
    switch (op->kind) {
    case STEP_LOAD:
        return load(l, op->order, &t->stale);
    case STEP_STORE:
        return store(l, op, t);
    case STEP_CAS:
        return compare_exchange(l, op, t, swapped_out);
    default:
        return read_modify_write(l, op, t, false);
    }
}

/* A load that is not done, if the thread did one there before. */
static uint64_t reuse(struct location *l, const struct operation *op,
                      struct trace *t)
{
    uint64_t *had = &loaded[run.self][location_number(l)];

    if (!(has_loaded[run.self][location_number(l)])) {
        has_loaded[run.self][location_number(l)] = true;
        *had = load(l, op->order, &t->stale);
    }
    return *had;
}

/* The same as the fault has it. */
static uint64_t operate_wrongly(struct location *l, struct operation *op,
                                struct trace *t, enum step_effect effect,
                                bool *swapped_out)
{
    uint64_t before;

    *swapped_out = true;
    switch (effect) {
    case STEP_SKIP:
        return op->kind == STEP_CAS
                   ? op->expected
                   : read_store(l, newest(l), __ATOMIC_RELAXED);
    case STEP_REUSE:
        return reuse(l, op, t);
    case STEP_SPLIT:
        return read_modify_write(l, op, t, true);
    case STEP_AS_EXCHANGE:
        before = read_modify_write(l, op, t, false);
        *swapped_out = before == op->expected;
        return before;
    default:
        op->order = op->order_failed = __ATOMIC_RELAXED;
        return operate(l, op, t, swapped_out);
    }
}

uint64_t memory_operation(struct operation *op, bool *swapped_out)
{
    enum step_effect effect;
    struct location *l;
    struct trace *t;
    uint64_t before;
    bool fault;

    audit_note(op);
    if (op->pc == run.relaxed_pc) {
        op->order = run.relaxed_order;
        if (!is_acquire(op->order))
            op->order_failed = __ATOMIC_RELAXED;
    }
    if (!memory_is_quiet(op->address))
        run_point();
    fault = run_fault(op->kind, op->address, op->value, &effect);
    plain_access(op->address, op->size,
                 op->kind == STEP_LOAD ? PLAIN_READ : PLAIN_WRITE, true,
                 op->pc);
    l = location(op->address, op->size);
    t = run_trace(op->kind, op->pc, op->address);
    t->fault = fault;
    t->size = (uint16_t)op->size;
    before = fault ? operate_wrongly(l, op, t, effect, swapped_out)
                   : operate(l, op, t, swapped_out);
    t->before = before;
    t->after =
        op->kind == STEP_LOAD || !*swapped_out ? before : newest(l)->value;
    return before;
}

/* --- Fences --------------------------------------------------------------- */

static void fence(int thread)
{
    join(&now[thread], &pending[thread]);
    join_seen(&total, &now[thread]);
    join_seen(&now[thread], &total);
    copy(&released[thread], &now[thread]);
}

void memory_fence(int order, uintptr_t pc)
{
    enum step_effect effect;
    struct trace *t;
    bool fault = run_fault(STEP_FENCE, 0, 0, &effect);

    run_point();
    t = run_trace(STEP_FENCE, pc, 0);
    t->fault = fault;
    if (fault)
        return;
    if (is_acquire(order))
        join(&now[run.self], &pending[run.self]);
    if (order == __ATOMIC_SEQ_CST)
        fence(run.self);
    if (is_release(order))
        copy(&released[run.self], &now[run.self]);
    memory_tick(run.self);
}

void memory_barrier(void)
{
    fence(run.self);
    memory_tick(run.self);
}

void memory_barrier_all(void)
{
    int caller = run.self;

    memory_barrier();
    for (int i = 0; i < STEP_THREADS; i++)
        if (i != caller && run.scenario->thread[i]) {
            run_point();
            fence(i);
            memory_tick(i);
        }
    memory_barrier();
}

uint64_t memory_kernel_load(uintptr_t address, unsigned size, bool *stale_out)
{
    struct location *l = location(address, size);

    memory_barrier();
    return load(l, __ATOMIC_RELAXED, stale_out);
}

/* --- Locks ---------------------------------------------------------------- */

static struct view *view_of(struct step_mutex *mutex)
{
    if (!mutex->slot) {
        if (locks_count == LOCKS_MAX) {
            step_fail("the scenario has too many locks");
            locks_count = 0;
        }
        memset(&locks[locks_count], 0, sizeof(locks[0]));
        mutex->slot = ++locks_count;
    }
    return &locks[mutex->slot - 1];
}

void memory_lock_take(struct step_mutex *mutex)
{
    join(&now[run.self], view_of(mutex));
}

void memory_lock_give(struct step_mutex *mutex)
{
    join(view_of(mutex), &now[run.self]);
    memory_tick(run.self);
}
