/*
 * The calls of drasync.h that hand regions from rank to rank: arguments are
 * checked here, the work is runtime/native/give*'s.
 */
#include "drasync.h"

#include "fronts/api.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/waiting.h"

/* In a record a gift is a release and a message, and what takes it a message
 * that is received and an acquire: docs/records.md. */
enum { RECORDED_BYTES = 16 };

static void record_message(enum drasync_record_kind kind, int rank, int tag)
{
    RECORD_BEGIN();
    RECORD_DONE(0, kind, rank, tag, RECORDED_BYTES);
}

int drasync_give(drasync_region_t region, int rank, int tag)
{
    int err = api_enter("drasync_give");

    if (err)
        return err;
    if (rank < 0 || rank >= runtime.ranks || tag < 0)
        return DRASYNC_EINVAL;
    api_look_at_links(region, true);
    RECORD_BEGIN();
    api_tell_left(region);
    err = native_give(region, rank, tag);
    RECORD_DONE(err, RECORD_RELEASE, (uintptr_t)region, 0, 0);
    if (!err)
        record_message(RECORD_MPI_SEND, rank, tag);
    if (err == DRASYNC_ENESTED && runtime.options.check)
        check_held_again("drasync_give", region);
    return api_told("drasync_give", region, err);
}

int drasync_take(int rank, int tag, uint64_t timeout_us,
                 drasync_region_t *region_out, struct drasync_gift *gift_out)
{
    struct drasync_gift gift = {0};
    int err = api_enter("drasync_take");

    if (err)
        return err;
    if ((rank != DRASYNC_ANY && (rank < 0 || rank >= runtime.ranks)) ||
        (tag != DRASYNC_ANY && tag < 0) || !region_out)
        return DRASYNC_EINVAL;
    waiting_caller = __builtin_return_address(0);
    RECORD_BEGIN();
    err = native_take(rank, tag, timeout_us, region_out, &gift);
    RECORD_DONE(err, RECORD_MPI_RECV, gift.from, gift.tag, RECORDED_BYTES);
    if (!err) {
        RECORD_BEGIN();
        api_tell_apart(*region_out, NULL);
        RECORD_DONE(0, RECORD_ACQUIRE, (uintptr_t)*region_out, DRASYNC_WRITE,
                    0);
    }
    if (gift_out && (!err || err == DRASYNC_EDELETED || native_gift_stays(err)))
        *gift_out = gift;
    if (err == DRASYNC_EUPGRADE || err == DRASYNC_EORDER)
        api_told("drasync_take", *region_out, err);
    return err;
}
