/* Strided and indexed transfers as runs of bytes: see shape.h. */
#include "fronts/dart/shape.h"
#include "memory/blocks.h"

static size_t blocks_end(const struct type *type)
{
    size_t end = 0;

    for (size_t i = 0; i < type->blocks; i++) {
        if (type->lengths[i] && type->offsets[i] + type->lengths[i] > end)
            end = type->offsets[i] + type->lengths[i];
    }
    return end * type->bytes;
}

bool shape_span(const struct type *type, size_t nelem, size_t *bytes_out)
{
    size_t step, last;

    *bytes_out = 0;
    if (nelem == 0)
        return true;
    if (type->kind == TYPE_BASIC)
        return !__builtin_mul_overflow(nelem, type->bytes, bytes_out);
    if (type->kind == TYPE_STRIDED) {
        step = type->stride * type->bytes;
        last = type->blocklen * type->bytes;
    } else {
        step = type->extent_bytes;
        last = blocks_end(type);
    }
    return !__builtin_mul_overflow(nelem / type->elements - 1, step,
                                   bytes_out) &&
           !__builtin_add_overflow(*bytes_out, last, bytes_out);
}

/* --- Piece by piece ------------------------------------------------------- */

/* The piece for the block, which may be one past the last. */
static void next_indexed(struct shape_cursor *cursor)
{
    const struct type *type = cursor->type;

    for (;;) {
        if (cursor->block == type->blocks) {
            cursor->block = 0;
            cursor->base += type->extent_bytes;
        }
        cursor->bytes = type->lengths[cursor->block] * type->bytes;
        cursor->at = cursor->base + type->offsets[cursor->block] * type->bytes;
        if (cursor->bytes)
            return;
        cursor->block++;
    }
}

void shape_begin(struct shape_cursor *cursor, const struct type *type,
                 size_t nelem)
{
    *cursor = (struct shape_cursor){.type = type};
    if (nelem == 0)
        return;
    if (type->kind == TYPE_BASIC)
        cursor->bytes = nelem * type->bytes;
    else if (type->kind == TYPE_STRIDED)
        cursor->bytes = type->blocklen * type->bytes;
    else
        next_indexed(cursor);
}

void shape_advance(struct shape_cursor *cursor, size_t bytes)
{
    const struct type *type = cursor->type;

    cursor->at += bytes;
    cursor->bytes -= bytes;
    if (cursor->bytes || type->kind == TYPE_BASIC)
        return;
    if (type->kind == TYPE_STRIDED) {
        cursor->at += (type->stride - type->blocklen) * type->bytes;
        cursor->bytes = type->blocklen * type->bytes;
    } else {
        cursor->block++;
        next_indexed(cursor);
    }
}

/* --- Runs ----------------------------------------------------------------- */

static bool next_run(struct rma_runs *runs, struct rma_run *out)
{
    struct shape_runs *r = (struct shape_runs *)runs;
    struct shape_cursor *c = &r->cursor;

    if (!r->left)
        return false;
    *out = (struct rma_run){.at = c->at, .bytes = c->bytes, .count = 1};
    if (c->type->kind == TYPE_STRIDED) {
        out->count = r->left / c->bytes;
        out->stride = c->type->stride * c->type->bytes;
        r->left = 0;
        return true;
    }
    r->left -= c->bytes;
    while (r->left) {
        shape_advance(c, c->bytes);
        if (out->count == 1 && c->at == out->at + out->bytes) {
            out->bytes += c->bytes;
        } else if (c->bytes == out->bytes && c->at > out->at &&
                   (out->count == 1 ||
                    c->at == out->at + out->count * out->stride)) {
            if (out->count == 1)
                out->stride = c->at - out->at;
            out->count++;
        } else {
            return true;
        }
        r->left -= c->bytes;
    }
    return true;
}

void shape_runs_begin(struct shape_runs *runs, const struct type *type,
                      size_t nelem)
{
    runs->runs.next = next_run;
    runs->left = nelem * type->bytes;
    shape_begin(&runs->cursor, type, nelem);
}

bool shape_in_one_piece(const struct type *type, size_t nelem)
{
    return type->kind == TYPE_BASIC ||
           (type->kind == TYPE_STRIDED &&
            (nelem == type->elements || type->stride == type->blocklen));
}

/* --- Copying -------------------------------------------------------------- */

/* Elements in a row; 0: not all rows are as long. */
static size_t row(const struct type *type)
{
    return type->kind == TYPE_STRIDED ? type->blocklen : 0;
}

/* Bytes from row to row of @elements. */
static size_t row_step(const struct type *type, size_t elements)
{
    return (type->kind == TYPE_STRIDED ? type->stride : elements) * type->bytes;
}

void shape_copy(char *to, const struct type *to_type, const char *from,
                const struct type *from_type, size_t nelem)
{
    bool plain = to_type->kind == TYPE_BASIC || from_type->kind == TYPE_BASIC;
    size_t elements = row(to_type) ? row(to_type) : row(from_type);
    size_t left = nelem * to_type->bytes;
    struct shape_cursor a, b;

    if (to_type->kind != TYPE_INDEXED && from_type->kind != TYPE_INDEXED &&
        elements && (plain || row(to_type) == row(from_type))) {
        blocks_copy(to, row_step(to_type, elements), from,
                    row_step(from_type, elements), nelem / elements,
                    elements * to_type->bytes);
        return;
    }
    shape_begin(&a, to_type, nelem);
    shape_begin(&b, from_type, nelem);
    while (left) {
        size_t bytes = a.bytes < b.bytes ? a.bytes : b.bytes;

        shape_copy_bytes(to + a.at, from + b.at, bytes);
        left -= bytes;
        if (left) {
            shape_advance(&a, bytes);
            shape_advance(&b, bytes);
        }
    }
}
