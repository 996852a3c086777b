/*
 * run.hpp - functions that run where a region is, with their types: function,
 * batch_function and pending.
 *
 *     long deposit(drasync_region_t account, const amount &a)
 *     {
 *         return drasync::root<balance>(account)->cents += a.cents;
 *     }
 *
 *     const drasync::function<deposit> deposit_there("deposit"); // every rank
 *     MPI_Barrier(MPI_COMM_WORLD);
 *     long cents = deposit_there.run(account, {500});
 *
 * The rules are those of drasync_run() and the calls beside it.  A function takes
 * the region and at most one argument, by value or by const reference, and
 * returns void or an answer; both are copied as bytes, so they are trivially
 * copyable and storable, and at most DRASYNC_RUN_BYTES_MAX long.
 *
 * An exception that a function throws and that stands for an error of DRASync's
 * (bad_alloc, a std::system_error of category()) is thrown where it was run from,
 * as std::system_error.  Any other one ends the program by std::terminate(), on
 * the rank where the function ran.  All errors are std::system_error.
 *
 * Objects of these classes may be shared by threads, but a pending is used by
 * one at a time.
 */
#ifndef DRASYNC_RUN_HPP
#define DRASYNC_RUN_HPP

#include "drasync.h"
#include "drasync/arguments.hpp"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/storable.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace drasync
{

namespace detail
{

/* No argument, or no answer. */
struct no_bytes {
};

/* What travels as bytes; the compiler says why another type does not. */
template <class T> struct travels {
    static_assert(std::is_trivially_copyable_v<T>,
                  "drasync: arguments and answers of functions are copied as "
                  "bytes, so they have to be trivially copyable");
    static_assert(storable_v<T>,
                  "drasync: this argument or answer means something on one "
                  "rank only (see drasync/storable.hpp)");
    static_assert(sizeof(T) <= DRASYNC_RUN_BYTES_MAX,
                  "drasync: arguments and answers of functions have at most "
                  "DRASYNC_RUN_BYTES_MAX bytes: put more into a region");
    static_assert(alignof(T) <= 8,
                  "drasync: arguments and answers of functions are aligned to "
                  "8 bytes");

    static constexpr std::size_t bytes = sizeof(T);
};
template <> struct travels<no_bytes> {
    static constexpr std::size_t bytes = 0;
};

/* Bytes for an answer, where there may be none. */
template <class T>
inline constexpr std::size_t room =
    travels<std::conditional_t<std::is_void_v<T>, no_bytes, T>>::bytes;

template <class T> using bare_t = std::remove_cv_t<std::remove_reference_t<T>>;

/* The answer and the argument of a function's type. */
template <class Function> struct signature {
    static_assert(!std::is_same_v<Function, Function>,
                  "drasync: a function that runs where a region is takes the "
                  "region (drasync_region_t) and at most one argument");
};
template <class Answer> struct signature<Answer (*)(drasync_region_t)> {
    using answer = Answer;
    using argument = no_bytes;
};
template <class Answer, class Argument>
struct signature<Answer (*)(drasync_region_t, Argument)> {
    static_assert(!std::is_lvalue_reference_v<Argument> ||
                      std::is_const_v<std::remove_reference_t<Argument>>,
                  "drasync: a function gets a copy of its argument: take it by "
                  "value or by const reference");
    using answer = Answer;
    using argument = bare_t<Argument>;
};
template <class Answer>
struct signature<Answer (*)(drasync_region_t) noexcept>
    : signature<Answer (*)(drasync_region_t)> {
};
template <class Answer, class Argument>
struct signature<Answer (*)(drasync_region_t, Argument) noexcept>
    : signature<Answer (*)(drasync_region_t, Argument)> {
};

/* The elements of what a batch function gets. */
template <class Arguments> struct element_of {
    static_assert(!std::is_same_v<Arguments, Arguments>,
                  "drasync: a batch function takes the region and "
                  "drasync::arguments<T>");
};
template <class T> struct element_of<arguments<T>> {
    using type = T;
};

/* 0, or the error that @call threw; others end the program here. */
template <class Call> int result_of(Call &&call) noexcept
{
    try {
        call();
    } catch (const bad_alloc &e) {
        return e.code().value();
    } catch (const std::system_error &e) {
        if (e.code().category() != category())
            std::terminate();
        return e.code() ? e.code().value() : DRASYNC_EINTERNAL;
    }
    return 0;
}

/* A drasync_function_fn that calls @Function. */
template <auto Function>
int run_one(drasync_region_t region, const void *arg, std::size_t arg_bytes,
            void *answer, std::size_t answer_bytes)
{
    using parts = signature<decltype(Function)>;
    using argument = typename parts::argument;
    using result = typename parts::answer;

    /* Another type by the same name? */
    if (arg_bytes != travels<argument>::bytes ||
        (answer_bytes && answer_bytes != room<result>))
        return DRASYNC_EINVAL;
    return result_of([&] {
        const auto call = [&] {
            if constexpr (std::is_same_v<argument, no_bytes>)
                return Function(region);
            else
                return Function(region, *static_cast<const argument *>(arg));
        };

        if constexpr (std::is_void_v<result>) {
            call();
        } else {
            const result value = call();

            if (answer_bytes)
                std::memcpy(answer, &value, sizeof(value));
        }
    });
}

/* A drasync_batch_fn that calls @Function. */
template <auto Function, class T>
int run_batch(drasync_region_t region, const void *args, std::size_t arg_bytes,
              std::size_t count)
{
    if (arg_bytes != travels<T>::bytes)
        return DRASYNC_EINVAL;
    return result_of([&] { Function(region, arguments<T>(args, count)); });
}

} // namespace detail

/*
 * What function::irun() will answer, as a std::future: movable, not copyable.
 * One that is destroyed before forgets the answer; the function runs all the
 * same.
 */
template <class Answer> class pending
{
  public:
    pending() noexcept = default;

    pending(pending &&) noexcept = default;

    pending &operator=(pending &&other) noexcept
    {
        pending(std::move(other)).state_.swap(state_);
        return *this;
    }

    ~pending()
    {
        if (state_ && state_->request)
            drasync_cancel(&state_->request);
    }

    /* false: there is no answer to wait for, or get() has had it. */
    bool valid() const noexcept
    {
        return static_cast<bool>(state_);
    }

    /* Wait for the answer, or throw the function's error; once. */
    Answer get()
    {
        if (!state_)
            throw std::system_error(
                std::make_error_code(std::errc::operation_not_permitted),
                "drasync::pending::get");
        if (state_->request)
            ask(DRASYNC_FOREVER);
        const std::unique_ptr<state> ended = std::move(state_);
        check(ended->result, "drasync::pending::get", ended->region,
              detail::elsewhere);
        if constexpr (!std::is_void_v<Answer>)
            return *static_cast<Answer *>(static_cast<void *>(ended->answer));
    }

    /* Waiting so long: is the answer there? */
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return !state_ || !state_->request || ask(detail::timeout_us(timeout));
    }

  private:
    template <auto Function> friend class function;

    /* Is the request over?  Throws an error of the call itself, as in a function
     * that runs; then the answer is still to come. */
    bool ask(std::uint64_t timeout_us)
    {
        const int err = drasync_wait(&state_->request, timeout_us);

        if (!state_->request) {
            state_->result = err;
            return true;
        }
        if (err != DRASYNC_EAGAIN)
            check(err, "drasync::pending", state_->region, detail::elsewhere);
        return false;
    }

    struct state {
        drasync_region_t region;
        drasync_request_t request;
        int result;
        alignas(8) unsigned char answer[detail::room<Answer> + 1]; /* or none */
    };

    std::unique_ptr<state>
        state_; /* stays where it is: the library writes it */
};

/* @Function, registered by a name, to be run where a region is. */
template <auto Function> class function
{
    using parts = detail::signature<decltype(Function)>;

    template <class A>
    static constexpr bool takes_no_mode =
        !std::is_same_v<A, detail::no_bytes> &&
        !std::is_same_v<A, enum drasync_mode>;

  public:
    using answer_type = typename parts::answer;
    using argument_type = typename parts::argument;

    /* Every rank makes one with this name, with a barrier between that and the
     * first run; the same again is no error.  May come before MPI_Init. */
    explicit function(const char *name)
    {
        check(drasync_register(name, detail::run_one<Function>, &function_),
              "drasync::function");
    }

    /* Run it, under a hold for @mode, and wait for its answer. */
    template <class A = argument_type,
              class = std::enable_if_t<!std::is_same_v<A, detail::no_bytes>>>
    answer_type run(drasync_region_t region, const argument_type &arg,
                    enum drasync_mode mode = DRASYNC_WRITE) const
    {
        return run_now(region, &arg, mode);
    }

    template <class A = argument_type,
              class = std::enable_if_t<std::is_same_v<A, detail::no_bytes>>>
    answer_type run(drasync_region_t region,
                    enum drasync_mode mode = DRASYNC_WRITE) const
    {
        return run_now(region, nullptr, mode);
    }

    /* Not DRASYNC_READ in the argument's place, which a number would take. */
    template <class A = argument_type,
              std::enable_if_t<takes_no_mode<A>, int> = 0>
    answer_type run(drasync_region_t, enum drasync_mode) const = delete;
    template <class A = argument_type,
              std::enable_if_t<takes_no_mode<A>, int> = 0>
    answer_type irun(drasync_region_t, enum drasync_mode) const = delete;
    template <class A = argument_type,
              std::enable_if_t<takes_no_mode<A>, int> = 0>
    void run_ff(drasync_region_t, enum drasync_mode) const = delete;

    /* The same without waiting: the answer comes later. */
    template <class A = argument_type,
              class = std::enable_if_t<!std::is_same_v<A, detail::no_bytes>>>
    pending<answer_type> irun(drasync_region_t region, const argument_type &arg,
                              enum drasync_mode mode = DRASYNC_WRITE) const
    {
        return run_later(region, &arg, mode);
    }

    template <class A = argument_type,
              class = std::enable_if_t<std::is_same_v<A, detail::no_bytes>>>
    pending<answer_type> irun(drasync_region_t region,
                              enum drasync_mode mode = DRASYNC_WRITE) const
    {
        return run_later(region, nullptr, mode);
    }

    /* The same without an answer, for many; run_flush() waits for them. */
    template <class A = argument_type,
              class = std::enable_if_t<!std::is_same_v<A, detail::no_bytes>>>
    void run_ff(drasync_region_t region, const argument_type &arg,
                enum drasync_mode mode = DRASYNC_WRITE) const
    {
        check(drasync_run_ff(region, function_, mode, &arg, arg_bytes),
              "drasync::function::run_ff", region, detail::elsewhere);
    }

    template <class A = argument_type,
              class = std::enable_if_t<std::is_same_v<A, detail::no_bytes>>>
    void run_ff(drasync_region_t region,
                enum drasync_mode mode = DRASYNC_WRITE) const
    {
        check(drasync_run_ff(region, function_, mode, nullptr, 0),
              "drasync::function::run_ff", region, detail::elsewhere);
    }

  private:
    static constexpr std::size_t arg_bytes =
        detail::travels<argument_type>::bytes;
    static constexpr std::size_t answer_bytes = detail::room<answer_type>;

    answer_type run_now(drasync_region_t region, const void *arg,
                        enum drasync_mode mode) const
    {
        if constexpr (std::is_void_v<answer_type>) {
            check(drasync_run(region, function_, mode, arg, arg_bytes, nullptr,
                              0),
                  "drasync::function::run", region, detail::elsewhere);
        } else {
            alignas(answer_type) unsigned char bytes[answer_bytes];

            check(drasync_run(region, function_, mode, arg, arg_bytes, bytes,
                              answer_bytes),
                  "drasync::function::run", region, detail::elsewhere);
            return *static_cast<answer_type *>(static_cast<void *>(bytes));
        }
    }

    pending<answer_type> run_later(drasync_region_t region, const void *arg,
                                   enum drasync_mode mode) const
    {
        using state = typename pending<answer_type>::state;
        pending<answer_type> later;
        auto made = std::make_unique<state>();

        made->region = region;
        check(drasync_irun(region, function_, mode, arg, arg_bytes,
                           answer_bytes ? made->answer : nullptr, answer_bytes,
                           &made->request),
              "drasync::function::irun", region, detail::elsewhere);
        later.state_ = std::move(made);
        return later;
    }

    drasync_function_t function_ = nullptr;
};

/*
 * A function void (drasync_region_t, drasync::arguments<T>) that gets many
 * arguments at once: faster where each means little work.  It has no answer.
 */
template <auto Function> class batch_function
{
    template <class Argument>
    static typename detail::element_of<detail::bare_t<Argument>>::type
    element(void (*)(drasync_region_t, Argument));

  public:
    using argument_type = decltype(element(Function));

    /* As function::function(). */
    explicit batch_function(const char *name)
    {
        check(drasync_register_batch(
                  name, detail::run_batch<Function, argument_type>, &function_),
              "drasync::batch_function");
    }

    void run(drasync_region_t region, const argument_type &arg,
             enum drasync_mode mode = DRASYNC_WRITE) const
    {
        check(drasync_run(region, function_, mode, &arg, arg_bytes, nullptr, 0),
              "drasync::batch_function::run", region, detail::elsewhere);
    }

    void run_ff(drasync_region_t region, const argument_type &arg,
                enum drasync_mode mode = DRASYNC_WRITE) const
    {
        check(drasync_run_ff(region, function_, mode, &arg, arg_bytes),
              "drasync::batch_function::run_ff", region, detail::elsewhere);
    }

  private:
    static constexpr std::size_t arg_bytes =
        detail::travels<argument_type>::bytes;

    drasync_function_t function_ = nullptr;
};

/* Wait until all that this thread ran is done.  Throws the first error of what
 * run_ff() ran since the last flush. */
inline void run_flush()
{
    check(drasync_run_flush(), "drasync::run_flush");
}

/* They are of this process. */
template <auto Function> struct storable<function<Function>> : std::false_type {
};
template <auto Function>
struct storable<batch_function<Function>> : std::false_type {
};
template <class Answer> struct storable<pending<Answer>> : std::false_type {
};

} // namespace drasync

#endif /* DRASYNC_RUN_HPP */
