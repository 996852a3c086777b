/*
 * arguments.hpp - arguments<T>: what a function for many runs at once gets, one
 * argument of each (drasync_register_batch(), batch_function of run.hpp).
 */
#ifndef DRASYNC_ARGUMENTS_HPP
#define DRASYNC_ARGUMENTS_HPP

#include <cstddef>
#include <iterator>

namespace drasync
{

/* Read-only, in the order of the runs; the library's, while the function runs. */
template <class T> class arguments
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = const T *;
        using reference = const T &;

        iterator() noexcept = default;

        explicit iterator(const unsigned char *at) noexcept : at_(at)
        {
        }

        reference operator*() const noexcept
        {
            return *operator->();
        }

        pointer operator->() const noexcept
        {
            return static_cast<const T *>(static_cast<const void *>(at_));
        }

        iterator &operator++() noexcept
        {
            at_ += stride;
            return *this;
        }

        iterator operator++(int) noexcept
        {
            iterator before = *this;

            ++*this;
            return before;
        }

        friend bool operator==(iterator a, iterator b) noexcept
        {
            return a.at_ == b.at_;
        }

        friend bool operator!=(iterator a, iterator b) noexcept
        {
            return a.at_ != b.at_;
        }

      private:
        const unsigned char *at_ = nullptr;
    };

    arguments(const void *first, std::size_t count) noexcept
        : first_(static_cast<const unsigned char *>(first)), count_(count)
    {
    }

    std::size_t size() const noexcept
    {
        return count_;
    }

    const T &operator[](std::size_t i) const noexcept
    {
        return *iterator(first_ + i * stride);
    }

    iterator begin() const noexcept
    {
        return iterator(first_);
    }

    iterator end() const noexcept
    {
        return iterator(first_ + count_ * stride);
    }

  private:
    /* Each is aligned to 8 bytes. */
    static constexpr std::size_t stride = (sizeof(T) + 7) / 8 * 8;

    const unsigned char *first_;
    std::size_t count_;
};

} // namespace drasync

#endif /* DRASYNC_ARGUMENTS_HPP */
