/* dart_config.h - the DART interface. */
#ifndef DART__IF__CONFIG_H__
#define DART__IF__CONFIG_H__
#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>
#ifdef __cplusplus
extern "C" {
#endif
void dart_config(dart_config_t **config_out) DART_NOTHROW;
#ifdef __cplusplus
}
#endif
#endif
