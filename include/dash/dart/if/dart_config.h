/*
 * dart_config.h - settings that the program makes for itself.
 */
#ifndef DART__IF__CONFIG_H__
#define DART__IF__CONFIG_H__

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *config_out is the settings of this process, for reading and writing.  They
 * are there before dart_init() and after dart_exit() too, always at one
 * address, and not to be freed.
 */
void dart_config(dart_config_t **config_out) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART__IF__CONFIG_H__ */
