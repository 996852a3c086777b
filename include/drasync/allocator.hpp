/*
 * allocator.hpp - memory of a region for standard containers, by the interface
 * of std::pmr::polymorphic_allocator; and for what takes a
 * std::pmr::memory_resource.
 *
 * The state of both is the region's handle, which means the same on every rank.
 * allocator<T> is what containers that live in a region have.  It hands itself
 * to the elements that it constructs, if they take it, so that the strings in a
 * map of strings lie in the map's region; std::scoped_allocator_adaptor may be
 * put around it, and need not.  There is no allocator of no region, and it has
 * no default constructor: a string that is made without a region does not
 * compile.
 *
 * Assignment copies and moves between regions element by element, and a
 * container keeps its region always (no propagation, as with std::pmr).  As
 * standard containers have it, to swap two of different regions is undefined.
 *
 * To allocate and to give back needs WRITE on the region.  Allocation throws
 *   bad_alloc                   DRASYNC_ENOMEM, DRASYNC_ENOSPACE
 *   std::bad_array_new_length   more bytes than there can be
 *   std::system_error           DRASYNC_ENOTHELD, DRASYNC_ENOREGION ...
 * Giving back may not throw, so what is wrong there (no WRITE, a region that
 * was deleted before its containers) ends the program by std::terminate() with
 * a line on stderr.
 */
#ifndef DRASYNC_ALLOCATOR_HPP
#define DRASYNC_ALLOCATOR_HPP

#include "drasync.h"
#include "drasync/construct.hpp"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/storable.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <memory_resource>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace drasync
{
namespace detail
{

/* What drasync_alloc() aligns to. */
inline constexpr std::size_t alignment = 16;

[[noreturn]] inline void throw_alloc(int err, drasync_region_t handle)
{
    if (err == DRASYNC_ENOMEM || err == DRASYNC_ENOSPACE)
        throw bad_alloc(err);
    raise(make_error_code(err), "drasync::allocator", handle, DRASYNC_WRITE);
}

/* The object's address lies just before what is aligned to more than 16. */
inline void *allocate_aligned(drasync_region_t handle, std::size_t bytes,
                              std::size_t align)
{
    void *object = nullptr;

    if (bytes > SIZE_MAX - align)
        throw std::bad_array_new_length();
    const int err = drasync_alloc(handle, bytes + align, &object);
    if (err)
        throw_alloc(err, handle);
    const auto from = reinterpret_cast<std::uintptr_t>(object);
    const auto at = (from + alignment + align - 1) & ~(align - 1);
    reinterpret_cast<void **>(at)[-1] = object;
    return reinterpret_cast<void *>(at);
}

inline void *allocate(drasync_region_t handle, std::size_t bytes,
                      std::size_t align)
{
    void *object = nullptr;

    if (align > alignment)
        return allocate_aligned(handle, bytes, align);
    const int err = drasync_alloc(handle, bytes, &object);
    if (err)
        throw_alloc(err, handle);
    return object;
}

/* DRASYNC_ENOTREADY: DRASync has ended, and with it all regions.  DRASYNC_EPEER: the
 * job ends, and this may be what frees while that is told. */
inline void deallocate(void *ptr, std::size_t align) noexcept
{
    const int err = drasync_free(
        align > alignment && ptr ? static_cast<void **>(ptr)[-1] : ptr);

    if (!err || err == DRASYNC_ENOTREADY || err == DRASYNC_EPEER)
        return;
    std::fprintf(stderr, "drasync::allocator: %p is not given back: %s\n", ptr,
                 drasync_strerror(err));
    std::terminate();
}

} // namespace detail

template <class T> class allocator
{
  public:
    using value_type = T;

    /* Implicit, as std::pmr's from a resource: containers take a region or a
     * guard where they take an allocator. */
    allocator(drasync_region_t handle) noexcept : region_(handle)
    {
    }

    allocator(const write_guard &hold) noexcept : region_(hold.region())
    {
    }

    template <class U>
    allocator(const allocator<U> &other) noexcept : region_(other.region())
    {
    }

    allocator(std::nullptr_t) = delete;

    T *allocate(std::size_t count)
    {
        if (count > SIZE_MAX / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T *>(
            detail::allocate(region_, count * sizeof(T), alignof(T)));
    }

    void deallocate(T *ptr, std::size_t) noexcept
    {
        detail::deallocate(ptr, alignof(T));
    }

    /* With this allocator as an argument more, if a U takes it. */
    template <class U, class... Args> void construct(U *at, Args &&...args)
    {
        static_assert(detail::require_storable<U>::value);
        std::apply(
            [at](auto &&...all) {
                ::new (
                    static_cast<void *>(const_cast<std::remove_cv_t<U> *>(at)))
                    U(std::forward<decltype(all)>(all)...);
            },
            detail::construction_args<U>(*this, std::forward<Args>(args)...));
    }

    drasync_region_t region() const noexcept
    {
        return region_;
    }

  private:
    drasync_region_t region_;
};

template <class T, class U>
bool operator==(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return a.region() == b.region();
}

template <class T, class U>
bool operator!=(const allocator<T> &a, const allocator<U> &b) noexcept
{
    return !(a == b);
}

/*
 * Memory of a region for containers of std::pmr and others that take a
 * resource.  These belong to one rank: they point to the resource, which has a
 * vtable, so other ranks may at most read what lies in the region.  A container
 * that ranks hand to each other has drasync::allocator.
 */
class region_resource : public std::pmr::memory_resource
{
  public:
    explicit region_resource(drasync_region_t handle) noexcept : region_(handle)
    {
    }

    explicit region_resource(const write_guard &hold) noexcept
        : region_(hold.region())
    {
    }

    drasync_region_t region() const noexcept
    {
        return region_;
    }

  private:
    void *do_allocate(std::size_t bytes, std::size_t align) override
    {
        return detail::allocate(region_, bytes, align);
    }

    void do_deallocate(void *ptr, std::size_t, std::size_t align) override
    {
        detail::deallocate(ptr, align);
    }

    bool
    do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        const auto *same = dynamic_cast<const region_resource *>(&other);

        return same && same->region_ == region_;
    }

    drasync_region_t region_;
};

/*
 * A new T in a region, made of @args, and of the region's allocator if it takes
 * one.  The region is held for WRITE.  Throws as allocator does and as the
 * constructor; nothing is left then.
 */
template <class T, class... Args>
T *new_object(allocator<T> where, Args &&...args)
{
    T *object = where.allocate(1);

    try {
        where.construct(object, std::forward<Args>(args)...);
    } catch (...) {
        where.deallocate(object, 1);
        throw;
    }
    return object;
}

/* Destroy @object, which new_object() made on whatever rank, and give back its
 * memory; NULL is ignored.  The region is held for WRITE. */
template <class T> void delete_object(T *object) noexcept
{
    if (!object)
        return;
    object->~T();
    detail::deallocate(object, alignof(T));
}

/* new_object(), which root() then finds on every rank. */
template <class T, class... Args>
T &make_root(allocator<T> where, Args &&...args)
{
    T *object = new_object<T>(where, std::forward<Args>(args)...);
    const int err = drasync_set_root(where.region(), object);

    if (err) {
        delete_object(object);
        check(err, "drasync::make_root", where.region());
    }
    return *object;
}

/*
 * What make_root() or drasync_set_root() put there; NULL: nothing.  That it is
 * a T nobody checks.  Under a read_guard it is const.  Throws std::system_error
 * with the errors of drasync_get_root().
 */
template <class T> T *root(drasync_region_t handle)
{
    void *object = nullptr;

    check(drasync_get_root(handle, &object), "drasync::root", handle,
          DRASYNC_READ);
    return static_cast<T *>(object);
}

template <class T> T *root(const write_guard &hold)
{
    return root<T>(hold.region());
}

template <class T> const T *root(const read_guard &hold)
{
    return root<T>(hold.region());
}

} // namespace drasync

#endif /* DRASYNC_ALLOCATOR_HPP */
