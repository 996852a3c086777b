/* dart_config(): the program's own settings. */
#include "dash/dart/if/dart_config.h"

/* The program may write to it, before dart_init too. */
static dart_config_t config = {.log_enabled = 1};

void dart_config(dart_config_t **config_out)
{
    *config_out = &config;
}
