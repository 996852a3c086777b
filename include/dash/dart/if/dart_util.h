/*
 * dart_util.h - attributes of the interface's functions.  (GCC, Clang)
 */
#ifndef DART_UTIL_H_
#define DART_UTIL_H_

/* No C++ exception comes out of the function. */
#ifdef __cplusplus
#define DART_NOTHROW __attribute__((nothrow))
#else
#define DART_NOTHROW
#endif

/* No warning where it is not used. */
#define DART_MAYBE_UNUSED __attribute__((unused))

/* A function whose body is in the header. */
#define DART_INLINE static inline DART_MAYBE_UNUSED

#endif /* DART_UTIL_H_ */
