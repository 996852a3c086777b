/* Medians, spread, and the line of a benchmark. */
#include "benchmarks/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of sorted values; @part in [0, 1]. */
static double quantile(const double *sorted, int count, double part)
{
    double at = part * (count - 1);
    int low = (int)at;
    int high = low + 1 < count ? low + 1 : low;

    return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    return quantile(values, count, 0.5);
}

static double iqr(const double *sorted, int count)
{
    return quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25);
}

static void extra(struct bench *b, const char *text)
{
    size_t used = strlen(b->extra);

    bench_require(used + strlen(text) < sizeof(b->extra), "line too long");
    snprintf(b->extra + used, sizeof(b->extra) - used, "%s", text);
}

void bench_extra(struct bench *b, const char *name, double value)
{
    char text[128];

    snprintf(text, sizeof(text), " %s=%.4g", name, value);
    extra(b, text);
}

/* "WHAT_NAME=VALUE" */
static void extra_of(struct bench *b, const char *what, const char *name,
                     double value)
{
    char text[64];

    snprintf(text, sizeof(text), "%s_%s", what, name);
    bench_extra(b, text, value);
}

/* What came of a case; its values are sorted then. */
struct outcome {
    int side; /* the strongest rival */
    double ours, theirs, ratio;
};

static double side_median(struct bench *b, int number, int side)
{
    bench_require(b->count[number][side] > 0, "no measurements");
    return bench_median(b->value[number][side], b->count[number][side]);
}

/* Against one rival. */
static struct outcome against(struct bench *b, int number, int side)
{
    struct outcome o = {
        .side = side,
        .ours = side_median(b, number, BENCH_OURS),
        .theirs = side_median(b, number, side),
    };

    o.ratio = b->kind == BENCH_TIME ? o.theirs / o.ours : o.ours / o.theirs;
    return o;
}

static struct outcome outcome(struct bench *b, int number)
{
    struct outcome worst = {.side = -1};

    for (int s = BENCH_THEIRS; s < bench_sides(b); s++) {
        struct outcome o;

        if (b->missing[s])
            continue;
        o = against(b, number, s);
        if (worst.side < 0 || o.ratio < worst.ratio)
            worst = o;
    }
    bench_require(worst.side > 0, "no rival");
    return worst;
}

/* The rivals other than @strongest, in a case. */
static void tell_rivals(struct bench *b, int number, int strongest)
{
    for (int s = BENCH_THEIRS; s < bench_sides(b); s++) {
        const char *name = b->rivals[s - BENCH_THEIRS];
        struct outcome o;
        char text[64];

        if (s == strongest)
            continue;
        if (b->missing[s]) {
            snprintf(text, sizeof(text), " ratio_%s=skipped", name);
            extra(b, text);
            continue;
        }
        o = against(b, number, s);
        extra_of(b, "ratio", name, o.ratio);
        extra_of(b, "theirs", name, o.theirs);
    }
}

/* The case that the line is about, with fields for each in b->extra. */
static int main_case(struct bench *b)
{
    int worst = 0;
    double ratio = 0;

    for (int i = 0; b->cases && i < b->cases_count; i++) {
        struct outcome o = outcome(b, i);

        extra_of(b, "ratio", b->cases[i], o.ratio);
        extra_of(b, "ours", b->cases[i], o.ours);
        extra_of(b, "theirs", b->cases[i], o.theirs);
        if (i == 0 || o.ratio < ratio) {
            worst = i;
            ratio = o.ratio;
        }
    }
    return b->main_case ? b->main_case - 1 : worst;
}

static void print_line(struct bench *b)
{
    int number = main_case(b), *count = b->count[number];
    double(*value)[BENCH_RUNS_MAX] = b->value[number];
    struct outcome o = outcome(b, number);

    printf("%s ratio=%.4g ours=%.4g theirs=%.4g unit=%s runs=%d "
           "ours_iqr=%.3g theirs_iqr=%.3g",
           b->name, o.ratio, o.ours, o.theirs, b->unit,
           count[0] < count[o.side] ? count[0] : count[o.side],
           iqr(value[0], count[0]), iqr(value[o.side], count[o.side]));
    if (b->rivals_count > 1) {
        printf(" rival=%s", b->rivals[o.side - BENCH_THEIRS]);
        tell_rivals(b, number, o.side);
    }
    printf("%s\n", b->extra);
}

/* The first case is the figure; the others have fields. */
static void print_figure(struct bench *b)
{
    double ours = side_median(b, 0, BENCH_OURS);

    for (int i = 1; i < b->cases_count; i++)
        bench_extra(b, b->cases[i], side_median(b, i, BENCH_OURS));
    printf("%s ours=%.4g unit=%s runs=%d ours_iqr=%.3g%s\n", b->name, ours,
           b->unit, b->count[0][0], iqr(b->value[0][0], b->count[0][0]),
           b->extra);
}

/* For bench_drive(). */
static void print_side(const struct bench *b)
{
    for (int c = 0; c < b->cases_count; c++)
        for (int i = 0; i < b->count[c][b->side]; i++)
            printf("side=%.17g case=%d\n", b->value[c][b->side][i], c);
}

void bench_print(struct bench *b)
{
    if (b->side != BENCH_BOTH)
        print_side(b);
    else if (b->figure)
        print_figure(b);
    else
        print_line(b);
    fflush(stdout);
}
