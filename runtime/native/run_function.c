/* Functions by name, and what one may not do while it runs. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "runtime/native/lease_inline.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/place.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/waiting.h"

/* So many lines tell what functions may not do. */
#define SAID_MAX 10

#define SLOTS (2 * RUN_FUNCTIONS_MAX)

_Thread_local struct native_running native_running
    __attribute__((tls_model("initial-exec")));

static struct drasync_function functions[RUN_FUNCTIONS_MAX];
static int functions_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* By hash, open addressing.  Filled with release, under the mutex; pairs with
 * the acquire of run_function_find(), which then sees the function. */
static _Atomic(struct drasync_function *) slots[SLOTS];

static _Atomic(struct drasync_function *) *slot_of(uint64_t hash)
{
    size_t i = hash % SLOTS;
    struct drasync_function *f;

    while ((f = atomic_load_explicit(&slots[i], memory_order_acquire)) &&
           f->hash != hash)
        i = (i + 1) % SLOTS;
    return &slots[i];
}

/* FNV-1a: the same on all ranks. */
static uint64_t hash_of(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

struct drasync_function *run_function_find(uint64_t hash)
{
    return atomic_load_explicit(slot_of(hash), memory_order_acquire);
}

bool native_function_valid(drasync_function_t function)
{
    size_t offset = (uintptr_t)function - (uintptr_t)functions;

    /* Its thread has registered it, or knows it from one that has. */
    return offset < sizeof(functions) && offset % sizeof(functions[0]) == 0 &&
           (function->call || function->batch);
}

bool native_function_batch(drasync_function_t function)
{
    return function->batch;
}

int native_register(const char *name, drasync_function_fn *call,
                    drasync_batch_fn *batch, drasync_function_t *function_out)
{
    size_t length = strnlen(name, DRASYNC_NAME_MAX + 1);
    uint64_t hash = hash_of(name, length);
    _Atomic(struct drasync_function *) *slot;
    struct drasync_function *f;
    int err = 0;

    pthread_mutex_lock(&mutex);
    slot = slot_of(hash);
    f = atomic_load_explicit(slot, memory_order_relaxed);
    if (f &&
        (f->call != call || f->batch != batch || strcmp(f->name, name) != 0)) {
        err = DRASYNC_EEXIST;
    } else if (!f && functions_count == RUN_FUNCTIONS_MAX) {
        err = DRASYNC_ELIMIT;
    } else if (!f) {
        f = &functions[functions_count++];
        f->hash = hash;
        f->call = call;
        f->batch = batch;
        memcpy(f->name, name, length + 1);
        atomic_store_explicit(slot, f, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    if (!err)
        *function_out = f;
    return err;
}

/* While a function runs this thread knows no leases, so that acquire and release
 * do not take their short way, but come to native_run_refused(). */
static struct native_lease_thread *
function_begin(const struct drasync_function *function)
{
    struct native_lease_thread *leases = native_leases_mine;

    native_leases_mine = NULL;
    native_running.function = function;
    runtime_serving = true;
    return leases;
}

static void function_end(struct native_lease_thread *leases)
{
    runtime_serving = false;
    native_running.function = NULL;
    native_leases_mine = leases;
}

int run_function_call(const struct drasync_function *function,
                      drasync_region_t region, const void *arg,
                      size_t arg_bytes, void *answer, size_t answer_bytes)
{
    struct native_lease_thread *leases = function_begin(function);
    int result = function->batch ? function->batch(region, arg, arg_bytes, 1)
                                 : function->call(region, arg, arg_bytes,
                                                  answer, answer_bytes);

    function_end(leases);
    return result;
}

/* Nothing but the calls in the loop, so that the processor gets at several. */
int run_function_calls(const struct drasync_function *function,
                       drasync_region_t region, const char *args,
                       size_t arg_bytes, uint32_t count)
{
    struct native_lease_thread *leases = function_begin(function);
    drasync_function_fn *call = function->call;
    size_t padded = RUN_PADDED(arg_bytes);
    int first = 0;

    if (function->batch) {
        first =
            function->batch(region, arg_bytes ? args : NULL, arg_bytes, count);
        count = 0;
    }
    for (; count; count--, args += padded) {
        int result = call(region, arg_bytes ? args : NULL, arg_bytes, NULL, 0);

        if (__builtin_expect(result != 0, 0) && !first)
            first = result;
    }
    function_end(leases);
    return first;
}

int run_function_unknown(void)
{
    static _Atomic bool said;

    if (!atomic_exchange(&said, true))
        runtime_say("a rank of another node runs a function here that this "
                    "process has not registered, or registered as one of "
                    "another kind (with or without batches): all ranks call "
                    "drasync_register with the same names, before the first "
                    "of them runs a function (said once)");
    return DRASYNC_ENOFUNCTION;
}

int native_run_refused(const char *call)
{
    static _Atomic unsigned said;
    struct code_place frames[WAITING_FRAMES];
    char text[PLACE_TEXT_BYTES];
    unsigned before;

    if (!native_running.function)
        return 0;
    before =
        atomic_load(&said) < SAID_MAX ? atomic_fetch_add(&said, 1) : SAID_MAX;
    if (before < SAID_MAX) {
        waiting_frames(frames);
        place_text(&frames[0], text, sizeof(text));
        runtime_say(
            "function \"%s\", which drasync_run runs, calls %s%s%s: it "
            "may not wait, nor take or give holds; let it return, and do "
            "that after drasync_run%s",
            native_running.function->name, call, text[0] ? " in " : "", text,
            before + 1 < SAID_MAX ? "" : " (no more of this is said)");
    }
    return DRASYNC_ERUNNING;
}
