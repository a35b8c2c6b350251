/* setting_value - one value of a setting, checked against its kind when it arrives. */
#ifndef CONFIG_SETTING_VALUE_H
#define CONFIG_SETTING_VALUE_H

#include "config/settings.h"

/* Whether it is repeatable. */
bool setting_is_list(enum setting_id id);
/* Lists grow, counts count up, everything else is replaced.  Kind usage on failure. */
bool setting_value_add(struct setting_value *value, enum setting_id id, enum setting_source source,
                       const char *text, struct error *error);
void setting_value_clear(struct setting_value *value);

#endif
