/* dart.h - the DART interface. */
#ifndef DART__DART_H_
#define DART__DART_H_
#define DART_VERSION_STR "3.2.0"
#define DART_BUILD_STR   (__DATE__ " " __TIME__)
#include "dart_types.h"
#include "dart_config.h"
#include "dart_initialization.h"
#include "dart_team_group.h"
#include "dart_globmem.h"
#include "dart_communication.h"
#include "dart_synchronization.h"
#endif
