/* report.c - a failed run in words: why, and its operations one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"

#define LINES_MAX 512

static const char *const kinds[] = {
    [STEP_LOAD] = "load",
    [STEP_STORE] = "store",
    [STEP_EXCHANGE] = "exchange",
    [STEP_CAS] = "compare-exchange",
    [STEP_RMW] = "fetch-and-modify",
    [STEP_FENCE] = "fence",
    [STEP_FUTEX_WAIT] = "futex wait",
    [STEP_FUTEX_WAKE] = "futex wake",
    [STEP_MEMBARRIER] = "membarrier",
    [STEP_CALL] = "",
};

const char *report_kind(enum step_kind kind)
{
    return kinds[kind];
}

/* From the top of the source tree. */
static void shorten(char *line)
{
    static const char *const tops[] = {"/runtime/", "/memory/", "/tests/",
                                       "/transport/", "/protocol/"};
    char *newline = strchr(line, '\n'), *best = NULL;

    if (newline)
        *newline = 0;
    newline = strstr(line, " (discriminator");
    if (newline)
        *newline = 0;
    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        char *at = strstr(line, tops[i]);

        if (at && (!best || at < best))
            best = at;
    }
    if (best)
        memmove(line, best + 1, strlen(best + 1) + 1);
}

void report_lines(const uintptr_t *pcs, size_t count, char (*lines)[LINE_BYTES])
{
    char command[64 + 20 * LINES_MAX], exe[256];
    uintptr_t base = symbols_base();
    size_t used, i;
    FILE *out;
    ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    for (i = 0; i < count; i++)
        strcpy(lines[i], "?");
    if (length < 0 || count > LINES_MAX)
        return;
    exe[length] = 0;
    used = (size_t)snprintf(command, sizeof(command), "addr2line -e %s", exe);
    for (i = 0; i < count && used < sizeof(command); i++)
        used += (size_t)snprintf(command + used, sizeof(command) - used,
                                 " %#lx", (unsigned long)(pcs[i] - base - 1));
    out = popen(command, "r");
    if (!out)
        return;
    for (i = 0; i < count && fgets(lines[i], LINE_BYTES, out); i++)
        shorten(lines[i]);
    pclose(out);
}

void report_schedule_text(const struct choices *choices, char *text,
                          size_t bytes)
{
    size_t used = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->picked[i] && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u:%u",
                                     used ? "," : "", i, choices->picked[i]);
}

static void print_step(const struct trace *t, const char *line)
{
    const char *name = memory_name_of(t->address);
    char unnamed[64];

    if (t->address && !name) {
        uintptr_t offset = 0;

        name = symbols_name(t->address, &offset);
        snprintf(unnamed, sizeof(unnamed), name ? "%.40s+%#lx" : "%.0s%#lx",
                 name ? name : "", (unsigned long)(name ? offset : t->address));
        name = unnamed;
    }
    printf("#   thread %d: %s %s%s%s", t->thread, line,
           t->what ? t->what : kinds[t->kind], name ? " " : "",
           name ? name : "");
    switch (t->kind) {
    case STEP_LOAD:
    case STEP_FUTEX_WAIT:
        printf(" = %#llx", (unsigned long long)t->before);
        break;
    case STEP_STORE:
        printf(" = %#llx", (unsigned long long)t->after);
        break;
    case STEP_EXCHANGE:
    case STEP_CAS:
    case STEP_RMW:
        printf(" %#llx -> %#llx", (unsigned long long)t->before,
               (unsigned long long)t->after);
        break;
    case STEP_FUTEX_WAKE:
    case STEP_CALL:
        printf(" %llu", (unsigned long long)t->after);
        break;
    default:
        break;
    }
    printf("%s%s\n", t->stale ? " (an older value)" : "",
           t->fault ? " (the fault)" : "");
}

void report_failure(const struct choices *choices)
{
    static char lines[LINES_MAX][LINE_BYTES];
    static uintptr_t pcs[LINES_MAX];
    char text[2000];
    uint32_t from = 0, count = run.traces;

    report_schedule_text(choices, text, sizeof(text));
    printf("#   %s\n", run.reason);
    if (run.other_pc) {
        uintptr_t both[2] = {run.here_pc, run.other_pc};

        report_lines(both, 2, lines);
        printf("#   thread %d at %s; the other at %s\n", run.failed_thread,
               lines[0], lines[1]);
    }
    printf("#   schedule: --schedule=%s\n", text);
    if (count > LINES_MAX) {
        from = count - LINES_MAX;
        count = LINES_MAX;
        printf("#   (the last %u steps of %u)\n", count, run.traces);
    }
    for (uint32_t i = 0; i < count; i++)
        pcs[i] = trace[from + i].pc;
    report_lines(pcs, count, lines);
    for (uint32_t i = 0; i < count; i++)
        print_step(&trace[from + i], lines[i]);
}
