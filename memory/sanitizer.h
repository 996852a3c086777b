/*
 * Which sanitizer this is compiled for: gcc and clang say it in different ways.
 */
#ifndef MEMORY_SANITIZER_H
#define MEMORY_SANITIZER_H

#define SANITIZER_ADDRESS 0
#define SANITIZER_THREAD  0

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef SANITIZER_ADDRESS
#define SANITIZER_ADDRESS 1
#endif
#if __has_feature(thread_sanitizer)
#undef SANITIZER_THREAD
#define SANITIZER_THREAD 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#undef SANITIZER_ADDRESS
#define SANITIZER_ADDRESS 1
#endif
#ifdef __SANITIZE_THREAD__
#undef SANITIZER_THREAD
#define SANITIZER_THREAD 1
#endif

#endif /* MEMORY_SANITIZER_H */
