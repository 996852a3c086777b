/* Triangulation by insertion of points (Bowyer-Watson): see insert.h. */
#include "insert.h"

#include <assert.h>
#include <stdlib.h>

#include "../common/report.h"

/* Rounds of insertion; each is four times as large as the one before. */
#define ROUNDS_MAX 12

/* Insertions between two calls for progress. */
#define PROGRESS_POINTS 16384

/* A side of the cavity's border: the cavity on the left of @from @to. */
struct side {
    struct point from, to;
    struct triangle *outer; /* the triangle on the right, not in the cavity */
    int outer_index;        /* which neighbour of it the cavity is */
};

struct builder {
    struct pool *pool;
    struct triangle *last;       /* where the next walk starts */
    struct triangle_list cavity; /* of the insertion under way */
    struct side *sides;
    struct triangle **fan; /* the triangle that goes on each side */
    size_t sides_room;
    uint32_t stamp; /* marks the triangles of this cavity */
    uint32_t turn;  /* which side a walk looks at first */
};

/* --- Order --------------------------------------------------------------- */

struct ordered {
    uint64_t key;
    struct point point;
};

static uint64_t order_key(struct point p)
{
    uint64_t hash = report_mix(((uint64_t)(uint32_t)p.x << 32) | (uint32_t)p.y);
    uint64_t round = ROUNDS_MAX;

    while (round > 0 && (hash & 3) == 0) {
        hash >>= 2;
        round--;
    }
    return round << 56 | point_hilbert(p);
}

static int compare_ordered(const void *a, const void *b)
{
    uint64_t left = ((const struct ordered *)a)->key;
    uint64_t right = ((const struct ordered *)b)->key;

    return (left > right) - (left < right);
}

size_t insert_order(struct point *points, size_t count)
{
    struct ordered *ordered = report_malloc(count * sizeof *ordered);
    size_t i, kept = 0;

    for (i = 0; i < count; i++)
        ordered[i] = (struct ordered){order_key(points[i]), points[i]};
    qsort(ordered, count, sizeof *ordered, compare_ordered);
    for (i = 0; i < count; i++)
        if (i == 0 || ordered[i].key != ordered[i - 1].key)
            points[kept++] = ordered[i].point;
    free(ordered);
    return kept;
}

/* --- One insertion ------------------------------------------------------- */

/* Would @p, once inserted, remove @t? */
static int in_conflict(const struct triangle *t, struct point p)
{
    int64_t turn;

    if (!triangle_is_ghost(t))
        return point_in_circle(t->corner[0], t->corner[1], t->corner[2], p);
    turn = point_orient(t->corner[0], t->corner[1], p);
    return turn > 0 ||
           (turn == 0 && point_between(t->corner[0], t->corner[1], p));
}

/* The triangle that contains @p, or a ghost whose half-plane does. */
static struct triangle *locate(struct builder *builder, struct point p)
{
    struct triangle *t = builder->last, *came_from = NULL;
    int i, k, from, to;

    if (triangle_is_ghost(t))
        t = t->neighbour[2];
again:
    k = (int)(builder->turn++ % 3);
    for (i = 0; i < 3; i++, k = triangle_next(k)) {
        if (t->neighbour[k] == came_from)
            continue;
        from = triangle_next(k);
        to = triangle_next(from);
        if (point_orient(t->corner[from], t->corner[to], p) >= 0)
            continue;
        came_from = t;
        t = t->neighbour[k];
        if (triangle_is_ghost(t))
            return t;
        goto again;
    }
    return t;
}

/* Collect the cavity of @p, which @first belongs to. */
static void find_cavity(struct builder *builder, struct triangle *first,
                        struct point p)
{
    struct triangle *t, *other;
    size_t done;
    int k;

    builder->stamp++;
    builder->cavity.count = 0;
    first->stamp = builder->stamp;
    triangle_list_add(&builder->cavity, first);
    for (done = 0; done < builder->cavity.count; done++) {
        t = builder->cavity.items[done];
        for (k = 0; k < 3; k++) {
            other = t->neighbour[k];
            if (other->stamp == builder->stamp || !in_conflict(other, p))
                continue;
            other->stamp = builder->stamp;
            triangle_list_add(&builder->cavity, other);
        }
    }
}

static int in_cavity(const struct builder *builder, const struct triangle *t)
{
    return t->stamp == builder->stamp;
}

static void reserve_sides(struct builder *builder, size_t count)
{
    if (count <= builder->sides_room)
        return;
    builder->sides_room = 2 * count;
    builder->sides = report_realloc(builder->sides, builder->sides_room *
                                                        sizeof *builder->sides);
    builder->fan = report_realloc(builder->fan,
                                  builder->sides_room * sizeof *builder->fan);
}

/* Some triangle of the cavity and its side on the border. */
static struct triangle *first_side(const struct builder *builder, int *k_out)
{
    struct triangle *t;
    size_t i;
    int k;

    for (i = 0; i < builder->cavity.count; i++) {
        t = builder->cavity.items[i];
        for (k = 0; k < 3; k++) {
            if (!in_cavity(builder, t->neighbour[k])) {
                *k_out = k;
                return t;
            }
        }
    }
    assert(!"a cavity has a border");
    return NULL;
}

/*
 * Walk once around the border of the cavity, turning about each of its corners
 * through the cavity's triangles.  A cavity of n triangles has n + 2 sides:
 * it contains no corner, for insertion hides no point.
 */
static size_t find_sides(struct builder *builder)
{
    size_t expected = builder->cavity.count + 2, count = 0;
    struct triangle *t, *other;
    struct side *side;
    int k;

    reserve_sides(builder, expected);
    t = first_side(builder, &k);
    do {
        side = &builder->sides[count++];
        side->from = t->corner[triangle_next(k)];
        side->to = t->corner[triangle_next(triangle_next(k))];
        side->outer = t->neighbour[k];
        side->outer_index = triangle_index_of(side->outer, t);
        k = triangle_next(k);
        while (in_cavity(builder, other = t->neighbour[k])) {
            k = triangle_next(triangle_index_of(other, t));
            t = other;
        }
    } while (count < expected);
    assert(point_equal(builder->sides[count - 1].to, builder->sides[0].from));
    return count;
}

/* Make @t the triangle between @side and @p, with infinity in its place. */
static void set_triangle(struct triangle *t, const struct side *side,
                         struct point p, struct triangle *before,
                         struct triangle *after)
{
    struct point corner[3] = {side->from, side->to, p};
    struct triangle *neighbour[3] = {after, before, side->outer};
    int i, first = 0;

    if (point_is_infinite(side->from))
        first = 1;
    else if (point_is_infinite(side->to))
        first = 2;
    for (i = 0; i < 3; i++) {
        t->corner[i] = corner[(first + i) % 3];
        t->neighbour[i] = neighbour[(first + i) % 3];
    }
}

static void insert_point(struct builder *builder, struct point p)
{
    struct triangle **fan;
    size_t count, i;

    find_cavity(builder, locate(builder, p), p);
    count = find_sides(builder);
    fan = builder->fan;
    for (i = 0; i < count; i++)
        fan[i] = i < builder->cavity.count ? builder->cavity.items[i]
                                           : pool_get(builder->pool);
    for (i = 0; i < count; i++) {
        set_triangle(fan[i], &builder->sides[i], p, fan[(i ? i : count) - 1],
                     fan[i + 1 < count ? i + 1 : 0]);
        builder->sides[i].outer->neighbour[builder->sides[i].outer_index] =
            fan[i];
    }
    builder->last = fan[0];
}

/* --- All points ---------------------------------------------------------- */

/* The triangle @a @b @c, which turn left, and its three ghosts. */
static void make_first(struct builder *builder, struct point a, struct point b,
                       struct point c)
{
    struct point corner[3] = {a, b, c};
    struct triangle *real = pool_get(builder->pool), *ghost[3];
    int k;

    for (k = 0; k < 3; k++)
        ghost[k] = pool_get(builder->pool);
    for (k = 0; k < 3; k++) {
        int next = triangle_next(k), last = triangle_next(next);

        real->corner[k] = corner[k];
        real->neighbour[k] = ghost[k];
        ghost[k]->corner[0] = corner[last];
        ghost[k]->corner[1] = corner[next];
        ghost[k]->corner[2] = POINT_INFINITY;
        ghost[k]->neighbour[0] = ghost[last];
        ghost[k]->neighbour[1] = ghost[next];
        ghost[k]->neighbour[2] = real;
    }
    builder->last = real;
}

/* Every triangle that can be reached from the last one. */
static void collect(struct builder *builder, struct triangle_list *triangles)
{
    struct triangle *t;
    size_t done = triangles->count;
    int k;

    builder->stamp++;
    builder->last->stamp = builder->stamp;
    triangle_list_add(triangles, builder->last);
    for (; done < triangles->count; done++) {
        t = triangles->items[done];
        for (k = 0; k < 3; k++) {
            if (t->neighbour[k]->stamp == builder->stamp)
                continue;
            t->neighbour[k]->stamp = builder->stamp;
            triangle_list_add(triangles, t->neighbour[k]);
        }
    }
}

void insert_points(struct pool *pool, const struct point *points, size_t count,
                   struct triangle_list *triangles,
                   void (*progress)(size_t done, size_t total))
{
    struct builder builder = {.pool = pool};
    size_t third = 2, i;
    int64_t turn = 0;

    while (third < count &&
           (turn = point_orient(points[0], points[1], points[third])) == 0)
        third++;
    if (third >= count)
        return;
    if (turn > 0)
        make_first(&builder, points[0], points[1], points[third]);
    else
        make_first(&builder, points[1], points[0], points[third]);
    for (i = 2; i < count; i++) {
        if (i != third)
            insert_point(&builder, points[i]);
        if (progress && i % PROGRESS_POINTS == 0)
            progress(i, count);
    }
    collect(&builder, triangles);
    triangle_list_free(&builder.cavity);
    free(builder.sides);
    free(builder.fan);
}
