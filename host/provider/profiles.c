#include "provider/profiles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "provider/profile_read.h"

#define NAME_MAX_BYTES 64

struct profiles {
    struct profile *items;
    size_t count;
    struct arena memory; /* of their strings and lists */
    json_t *sections;    /* of their pairs' sources */
};

const struct profile *profiles_at(const struct profiles *profiles, size_t index)
{
    if (!profiles)
        return profile_at(index);
    return index < profiles->count ? &profiles->items[index] : NULL;
}

const struct profile *profiles_find(const struct profiles *profiles, const char *name,
                                    size_t length)
{
    const struct profile *profile;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++)
        if (strlen(profile->name) == length && memcmp(profile->name, name, length) == 0)
            return profile;
    return NULL;
}

void profiles_free(struct profiles *profiles)
{
    if (!profiles)
        return;
    free(profiles->items);
    arena_release(&profiles->memory);
    json_decref(profiles->sections);
    free(profiles);
}

/* It stands before a slash, on command lines and in sessions. */
static bool is_name(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) ||
           (length && name[length] && strchr("._-", name[length])))
        length++;
    return length && length <= NAME_MAX_BYTES && !name[length];
}

/* The place of a section's profile: the one of this name, else a new one. */
static struct profile *place_of(struct profiles *profiles, const char *name)
{
    const struct profile *found = profiles_find(profiles, name, strlen(name));
    if (found)
        return &profiles->items[found - profiles->items];
    char *copy = arena_copy(&profiles->memory, name, strlen(name));
    if (!copy)
        return NULL;
    struct profile *added = &profiles->items[profiles->count++];
    *added = (struct profile){.name = copy};
    return added;
}

static bool take_section(struct profiles *profiles, const char *name, const json_t *section,
                         struct error *error)
{
    if (!is_name(name))
        return error_set(error, ERROR_CONFIG,
                         "a provider's name is 1 to 64 of A-Z a-z 0-9 . _ -, a letter or a digit "
                         "first");
    struct profile *profile = place_of(profiles, name);
    return profile ? profile_read(profile, section, &profiles->memory, error) : error_memory(error);
}

static bool take_sections(struct profiles *profiles, json_t *sections, struct error *error)
{
    const char *name;
    json_t *section;
    size_t built_in = 0;
    while (profile_at(built_in))
        built_in++;
    profiles->items = calloc(built_in + json_object_size(sections), sizeof(*profiles->items));
    if (!profiles->items)
        return error_memory(error);
    for (; profiles->count < built_in; profiles->count++)
        profiles->items[profiles->count] = *profile_at(profiles->count);
    json_object_foreach (sections, name, section)
        if (!take_section(profiles, name, section, error)) {
            error_prefix(error, "provider-config: '%.80s'", name);
            return false;
        }
    return true;
}

struct profiles *profiles_new(json_t *sections, struct error *error)
{
    struct profiles *profiles = calloc(1, sizeof(*profiles));
    if (!profiles) {
        error_memory(error);
        return NULL;
    }
    arena_init(&profiles->memory, NULL, 0);
    profiles->sections = json_incref(sections);
    if (take_sections(profiles, sections, error))
        return profiles;
    profiles_free(profiles);
    return NULL;
}
