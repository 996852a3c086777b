/* dart_initialization.h - the DART interface. */
#ifndef DART_INITIALIZATION_H_INCLUDED
#define DART_INITIALIZATION_H_INCLUDED
#include <stdbool.h>
#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>
#ifdef __cplusplus
extern "C" {
#endif
dart_ret_t dart_init(int *argc, char ***argv) DART_NOTHROW;
dart_ret_t
dart_init_thread(int *argc, char ***argv,
                 dart_thread_support_level_t *thread_safety) DART_NOTHROW;
dart_ret_t dart_exit() DART_NOTHROW;
bool dart_initialized() DART_NOTHROW;
void dart_abort(int errorcode) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif
#endif
