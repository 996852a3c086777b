/*
 * drasync.hpp's errors, guards and unique_region: what each form does, and what
 * each wrong use throws.  Any number of ranks, one node or several.
 */
#include "native_check.h"

#include "drasync.hpp"

#include <chrono>
#include <type_traits>

using namespace std::chrono_literals;
using drasync::read_guard;
using drasync::unique_region;
using drasync::write_guard;

/* @call throws std::system_error with this code or condition. */
#define THROWS(call, wanted)                       \
    do {                                           \
        bool thrown = false;                       \
        try {                                      \
            static_cast<void>(call);               \
        } catch (const std::system_error &e) {     \
            thrown = e.code() == (wanted);         \
            if (!thrown)                           \
                fprintf(stderr, "%s\n", e.what()); \
        }                                          \
        CHECK(thrown);                             \
    } while (0)

static_assert(std::is_nothrow_move_constructible_v<write_guard>);
static_assert(std::is_nothrow_move_assignable_v<read_guard>);
static_assert(!std::is_copy_constructible_v<write_guard>);
static_assert(!std::is_constructible_v<read_guard, write_guard>);
static_assert(!std::is_convertible_v<drasync_region_t, write_guard>);
static_assert(!std::is_copy_constructible_v<unique_region>);
static_assert(std::is_error_code_enum_v<drasync_error>);

static int held(drasync_region_t region, enum drasync_mode mode)
{
    struct drasync_info info;

    OK(drasync_get_info(region, &info));
    return mode == DRASYNC_READ ? info.held_read : info.held_write;
}

static void errors()
{
    const std::error_code again = DRASYNC_EAGAIN;

    CHECK(again.category() == drasync::category());
    CHECK(!strcmp(again.category().name(), "drasync"));
    CHECK(again == std::errc::timed_out);
    CHECK(again != std::errc::invalid_argument);
    CHECK(again.message() == drasync_strerror(DRASYNC_EAGAIN));
    CHECK(!drasync::make_error_code(0));
    CHECK(drasync::make_error_code(DRASYNC_ENOSPACE) ==
          std::errc::not_enough_memory);
    CHECK(drasync::make_error_code(DRASYNC_EORDER) ==
          std::errc::resource_deadlock_would_occur);
    /* Of a code that nothing standard means, itself. */
    CHECK(
        drasync::make_error_code(DRASYNC_EDELETED).default_error_condition() ==
        std::error_condition(DRASYNC_EDELETED, drasync::category()));
    THROWS(drasync::check(DRASYNC_EEXIST, "here"), DRASYNC_EEXIST);
    drasync::check(0, "here");
}

static void timeouts()
{
    using drasync::detail::timeout_us;

    CHECK(timeout_us(0ns) == 0 && timeout_us(-5s) == 0);
    CHECK(timeout_us(1ns) == 1 && timeout_us(1000ns) == 1);
    CHECK(timeout_us(1001ns) == 2 && timeout_us(2ms) == 2000);
    CHECK(timeout_us(std::chrono::duration<double>(0.25)) == 250000);
    CHECK(timeout_us(std::chrono::hours::max()) == DRASYNC_FOREVER);
    CHECK(timeout_us(std::chrono::nanoseconds::max()) == 9223372036854776u);
}

/* What @call throws has @text. */
template <class Call> static void says(Call call, const std::string &text)
{
    std::string what;

    try {
        call();
    } catch (const std::system_error &e) {
        what = e.what();
    }
    if (what.find(text) == std::string::npos)
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", text.c_str(),
                what.c_str());
    CHECK(what.find(text) != std::string::npos);
}

/* Which region it was. */
static void names()
{
    auto [owner, made] = drasync::make_region();
    char address[32];

    snprintf(address, sizeof(address), "%p",
             static_cast<void *>(made.region()));
    const std::string of = std::string(" of region ") + address;

    says([&] { made.lock(); }, "drasync::write_guard" + of);
    made.unlock();
    says([&] { made.unlock(); }, "drasync::write_guard" + of);
    owner.reset();
    says([&] { read_guard late(made.region()); }, "drasync::read_guard" + of);
    says([] { write_guard().lock(); }, "drasync::write_guard: ");
}

/* And what is wrong with it here, as C programs are told. */
static void explains()
{
    auto [owner, made] = drasync::make_region();
    const drasync_region_t r = owner.get();
    const auto late = [&] { write_guard(r, std::adopt_lock).unlock(); };
    char text[DRASYNC_EXPLAIN_BYTES], *inside = nullptr;
    void *object;

    OK(drasync_alloc(r, 100, &object));
    inside = static_cast<char *>(object);
    made.unlock();
    says(late, ": this rank has no hold on this region to give back");
    says(late, drasync_explain(DRASYNC_ENOTHELD, r, 0, text, sizeof(text)));
    says([&] { static_cast<void>(drasync::allocator<int>(r).allocate(1)); },
         "drasync::allocator of region ");
    says([&] { static_cast<void>(drasync::allocator<int>(r).allocate(1)); },
         "WRITE is needed: acquire it for WRITE first");
    says([&] { static_cast<void>(drasync::root<int>(r)); },
         "READ is needed: acquire it for READ first");
    says([&] { read_guard hold(reinterpret_cast<drasync_region_t>(inside)); },
         "this address lies inside of region");
    CHECK(!strncmp(drasync::bad_alloc(DRASYNC_ENOMEM).what(),
                   "out of memory: this node's regions have ", 40));
}

/* On a region that only this rank knows. */
static void forms()
{
    auto [owner, made] = drasync::make_region();
    const drasync_region_t r = owner.get();

    CHECK(made.owns_lock() && made.region() == r);
    CHECK(held(r, DRASYNC_WRITE) == 1);
    {
        read_guard inner(r);

        CHECK(inner && held(r, DRASYNC_READ) == 1);
    }
    CHECK(held(r, DRASYNC_READ) == 0 && held(r, DRASYNC_WRITE) == 1);
    made.unlock();
    CHECK(!made && made.region() == r && held(r, DRASYNC_WRITE) == 0);
    made.lock();
    {
        write_guard taken(std::move(made));

        CHECK(!made && !made.region() && taken);
        made = std::move(taken);
        CHECK(made && !taken.region());
        swap(made, taken);
        CHECK(taken && !made);
    }
    CHECK(held(r, DRASYNC_WRITE) == 0);

    write_guard none, later(r, std::defer_lock);
    CHECK(!none && !later && held(r, DRASYNC_WRITE) == 0);
    CHECK(later.try_lock() && held(r, DRASYNC_WRITE) == 1);
    later = write_guard(r, 1s);
    CHECK(later && held(r, DRASYNC_WRITE) == 1);
    later = write_guard(r, std::chrono::steady_clock::now());
    CHECK(later && held(r, DRASYNC_WRITE) == 1);
    CHECK(later.release() == r && !later.region());
    CHECK(held(r, DRASYNC_WRITE) == 1);
    later = write_guard(r, std::adopt_lock);
    later = write_guard();
    CHECK(held(r, DRASYNC_WRITE) == 0);

    /* An exception gives back what was taken. */
    try {
        write_guard hold(r);

        throw 1;
    } catch (int) {
    }
    CHECK(held(r, DRASYNC_WRITE) == 0);
}

static void misuse()
{
    unique_region owner = drasync::make_region().region;
    const drasync_region_t r = owner.get();
    std::error_code error;
    write_guard none;

    THROWS(none.lock(), std::errc::operation_not_permitted);
    THROWS(none.try_lock(), std::errc::operation_not_permitted);
    THROWS(none.unlock(), std::errc::operation_not_permitted);
    THROWS(write_guard(nullptr), std::errc::operation_not_permitted);

    write_guard hold(r, error);
    CHECK(hold && !error);
    THROWS(hold.lock(), std::errc::resource_deadlock_would_occur);
    THROWS(hold.try_lock_for(1s), std::errc::resource_deadlock_would_occur);
    CHECK(hold && held(r, DRASYNC_WRITE) == 1);
    hold.unlock();
    THROWS(hold.unlock(), std::errc::operation_not_permitted);

    read_guard reading(r);
    THROWS(hold.lock(), DRASYNC_EUPGRADE);
    THROWS(hold.try_lock(), std::errc::resource_deadlock_would_occur);
    write_guard refused(r, error);
    CHECK(!refused && error == DRASYNC_EUPGRADE);
    THROWS(owner.reset(), DRASYNC_EUPGRADE);
    CHECK(owner.get() == r);
    reading.unlock();

    /* A guard whose hold somebody else gave back. */
    hold.lock();
    OK(drasync_release(r));
    THROWS(hold.unlock(), DRASYNC_ENOTHELD);
    CHECK(!hold);
}

/* The region ends under its guards. */
static void deleted()
{
    auto [owner, hold] = drasync::make_region();
    const drasync_region_t r = owner.get(),
                           below = drasync::make_subregion(hold);

    {
        write_guard inner(below);

        owner.reset();
        CHECK(!owner);
        /* Its destructor is silent. */
    }
    THROWS(hold.unlock(), DRASYNC_ENOREGION);
    THROWS(write_guard(r, 0s), DRASYNC_ENOREGION);
    THROWS(read_guard{r}, DRASYNC_ENOREGION);
    THROWS(drasync::make_subregion(r), DRASYNC_ENOREGION);
    owner = unique_region(r);
    owner.reset(); /* is gone: nothing to do */
    CHECK(!owner);

    /* After release() the guard of a deleted region leaves alone the new one
     * that may have its address. */
    auto first = drasync::make_region();
    first.region.reset();
    first.hold.release();
    auto second = drasync::make_region();
    first.hold = write_guard();
    CHECK(held(second.region.get(), DRASYNC_WRITE) == 1);
}

/* std::lock() takes several, in any order, on all ranks at once. */
static void several()
{
    drasync_region_t r[2] = {};
    unique_region owner[2];

    if (check_rank == 0)
        for (int i = 0; i < 2; i++) {
            owner[i] = drasync::make_region().region;
            r[i] = owner[i].get();
        }
    MPI_Bcast(r, sizeof(r), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) {
        write_guard a(r[check_rank % 2], std::defer_lock);
        write_guard b(r[1 - check_rank % 2], std::defer_lock);

        std::lock(a, b);
        CHECK(a && b);
    }
    check_barrier();
}

static void between_ranks()
{
    unique_region owner;
    drasync_region_t r = nullptr;

    if (check_ranks < 2)
        return;
    if (check_rank == 0) {
        auto made = drasync::make_region();

        owner = std::move(made.region);
        r = made.hold.release();
    }
    check_share(&r, 0);
    if (check_rank == 1) {
        write_guard hold(r, std::try_to_lock);

        CHECK(!hold && hold.region() == r);
        CHECK(!hold.try_lock_for(2ms));
        CHECK(!hold.try_lock_until(std::chrono::system_clock::now() + 1ms));
        CHECK(!read_guard(r, 1ms));
        THROWS(hold.unlock(), std::errc::operation_not_permitted);
        unique_region not_mine(r);
        THROWS(not_mine.reset(), DRASYNC_EBUSY);
        CHECK(not_mine.release() == r);
    }
    check_barrier();
    if (check_rank == 0)
        write_guard(r, std::adopt_lock).unlock();
    if (check_rank == 1) {
        read_guard hold(r);

        check_barrier();
        check_barrier();
    } else {
        check_barrier();
        if (check_rank == 0) {
            THROWS(owner.reset(), DRASYNC_EBUSY);
            CHECK(owner.get() == r);
        }
        check_barrier();
    }
    check_barrier();
}

/* Each rank writes a number when the one before it has. */
static void newer()
{
    struct {
        drasync_region_t region;
        std::uint64_t version;
        int *number;
    } shared{};
    unique_region owner;
    int number = -1;

    if (check_rank == 0) {
        auto made = drasync::make_region();

        shared.region = made.region.get();
        shared.number = static_cast<int *>(ralloc(shared.region, sizeof(int)));
        *shared.number = 0;
        shared.version = made.hold.version();
        owner = std::move(made.region);
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::uint64_t seen = 0;

    while (number < check_rank) {
        read_guard hold(shared.region, std::defer_lock);

        hold.lock_newer(seen);
        CHECK(seen >= shared.version && seen == hold.version());
        THROWS(hold.lock_newer(seen), std::errc::resource_deadlock_would_occur);
        number = *shared.number;
    }
    {
        write_guard hold(shared.region);

        CHECK(*shared.number == check_rank && hold.version() > seen);
        ++*shared.number;
        seen = hold.version();
    }
    while (check_rank == check_ranks - 1 && number >= 0) {
        read_guard hold(shared.region, std::defer_lock);

        CHECK(!hold.try_lock_newer_for(seen, 1ms) && !hold);
        number = -1;
    }
    check_barrier();
}

/* What is left when main() ends, after MPI_Finalize(), is silent too. */
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    auto left = drasync::make_region();

    errors();
    timeouts();
    names();
    explains();
    forms();
    misuse();
    /* In turns: it uses a handle after its region was deleted, and the region that
     * another rank made there meanwhile would be meant. */
    for (int rank = 0; rank < check_ranks; rank++) {
        check_barrier();
        if (rank == check_rank)
            deleted();
    }
    check_barrier();
    several();
    between_ranks();
    newer();
    return check_end("guards");
}
