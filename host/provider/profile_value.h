/*
 * profile_value - the values that a section of "provider-config" can have, checked; private to
 * profile_read.c.
 *
 * False, or NULL, is with *reading->error, which does not name the key.
 */
#ifndef PROVIDER_PROFILE_VALUE_H
#define PROVIDER_PROFILE_VALUE_H

#include "base/arena.h"
#include "provider/provider.h"

struct reading {
    struct profile *profile;
    const json_t *section;
    struct arena *memory;
    struct error *error;
    bool is_new; /* not one that is built in */
};

bool profile_refuse(const struct reading *reading, const char *what);
/* "unknown 'opnai'; did you mean 'openai'?", or all of `names`, which a NULL ends. */
bool profile_refuse_word(const struct reading *reading, const char *word, const char *const *names);
/* A copy of `text` with `end` behind it. */
bool profile_keep(const struct reading *reading, const char **place, const char *text,
                  const char *end);
/* A string that is not empty and has no control characters. */
const char *profile_line(const struct reading *reading, const json_t *value);

/* Each takes one kind of value and puts it into `place`, a member of the profile. */
typedef bool profile_reader(const struct reading *reading, const json_t *value, void *place);

profile_reader profile_read_text;
profile_reader profile_read_flag;
profile_reader profile_read_opposite;
profile_reader profile_read_name;
profile_reader profile_read_base_url;
profile_reader profile_read_path;
profile_reader profile_read_key_header;
profile_reader profile_read_pairs;
profile_reader profile_read_headers;
profile_reader profile_read_unsupported;
profile_reader profile_read_images;
profile_reader profile_read_schemas;
profile_reader profile_read_key_source;

#endif
