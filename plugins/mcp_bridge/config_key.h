/* config_key - what tells whether two configurations are of the same server. */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include "config.h"

/* Sets config->key. */
void config_key(struct server_config *config);

#endif
