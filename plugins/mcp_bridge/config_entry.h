/* config_entry - one server of an mcpServers file. */
#ifndef CONFIG_ENTRY_H
#define CONFIG_ENTRY_H

#include "config.h"

/* What came of an entry. */
enum entry_outcome {
    ENTRY_GOOD,     /* *out is the server */
    ENTRY_DISABLED, /* by the file */
    ENTRY_BAD,      /* `problem` says why */
    ENTRY_NO_MEMORY
};

/* `unknown` gets the keys that mean nothing here, "": none. */
enum entry_outcome config_entry_read(const char *name, const char *json, const char *where,
                                     const struct limits *limits, struct server_config **out,
                                     char *unknown, size_t unknown_size, char *problem,
                                     size_t size);

#endif
