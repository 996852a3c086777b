/*
 * audit.c - which memory orders the scenarios need: each operation that has one
 * is relaxed, by itself, and the line says whether a scenario fails then.  An
 * order that nothing needs is too strong, or there is a scenario missing.
 */
#include <stdio.h>

#include "audit.h"

#define AUDIT_MAX 256

static struct audited {
    uintptr_t pc;
    const char *name;
    enum step_kind kind;
    int order;
} audited[AUDIT_MAX];
static size_t audited_count;

void audit_note(const struct operation *op)
{
    if (op->order == __ATOMIC_RELAXED || run.relaxed_pc || !run.audited)
        return;
    for (size_t i = 0; i < audited_count; i++)
        if (audited[i].pc == op->pc)
            return;
    if (audited_count < AUDIT_MAX)
        audited[audited_count++] = (struct audited){
            op->pc, memory_name_of(op->address), op->kind, op->order};
}

static const char *order_name(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED:
        return "relaxed";
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE:
        return "acquire";
    case __ATOMIC_RELEASE:
        return "release";
    case __ATOMIC_ACQ_REL:
        return "acq_rel";
    default:
        return "seq_cst";
    }
}

static bool found(const struct audited *a, int order,
                  bool (*holds)(const struct step_scenario *scenario),
                  const struct step_test *test)
{
    bool fails = false;

    run.relaxed_pc = a->pc;
    run.relaxed_order = order;
    for (size_t i = 0; !fails && i < test->scenarios_count; i++)
        fails = !holds(&test->scenarios[i]);
    run.relaxed_pc = 0;
    return fails;
}

/* What an order consists of, the least first. */
static int weaker(int order, int step)
{
    static const int of_all[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
                                 __ATOMIC_RELEASE, __ATOMIC_ACQ_REL};

    return step < (order == __ATOMIC_SEQ_CST   ? 4
                   : order == __ATOMIC_ACQ_REL ? 3
                                               : 1)
               ? of_all[step]
               : -1;
}

void audit_print(const struct step_test *test,
                 bool (*holds)(const struct step_scenario *scenario))
{
    static uintptr_t pcs[AUDIT_MAX];
    static char lines[AUDIT_MAX][LINE_BYTES];

    for (size_t i = 0; i < audited_count; i++)
        pcs[i] = audited[i].pc;
    report_lines(pcs, audited_count, lines);
    for (size_t i = 0; i < audited_count; i++) {
        const struct audited *a = &audited[i];
        int order, enough = a->order;

        for (int n = 0; (order = weaker(a->order, n)) >= 0; n++)
            if ((a->kind != STEP_LOAD || order != __ATOMIC_RELEASE) &&
                (a->kind != STEP_STORE || order != __ATOMIC_ACQUIRE) &&
                !found(a, order, holds, test)) {
                enough = order;
                break;
            }
        printf("# %s: %s of %s is %s; %s is enough here\n", lines[i],
               report_kind(a->kind), a->name ? a->name : "an atomic",
               order_name(a->order), order_name(enough));
        fflush(stdout);
    }
}
