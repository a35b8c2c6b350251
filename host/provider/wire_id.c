#include "provider/wire_id.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define ID_MAX_BYTES    64
#define STRICT_BYTES    9
#define NAME_MAX_BYTES  64
#define NAME_TAIL_BYTES 8
/* No provider's ids begin like this, so one that does was most likely made here. */
#define MADE            "mapped_"

struct wire_id {
    const char *id; /* of the item */
    const char *sent;
    char made[sizeof(MADE) + 11];
    UT_hash_handle hh; /* by id */
    UT_hash_handle hh_sent;
};

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static size_t plain_length(const char *string)
{
    size_t length = 0;
    while (is_plain(string[length]))
        length++;
    return length;
}

/* FNV-1a, from another start for each `round`: the same in every process, unlike the tables'
 * hash. */
static uint64_t fingerprint(const char *string, unsigned round)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ (round * UINT64_C(0x9E3779B97F4A7C15));
    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * UINT64_C(0x100000001B3);
    return hash;
}

static void put_letters(char *out, size_t count, uint64_t number)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i < count; i++, number /= 62)
        out[i] = letters[number % 62];
    out[count] = '\0';
}

/* ---- ids ---- */

static bool is_accepted(const struct wire_writer *writer, const char *id)
{
    size_t length = plain_length(id);
    if (!length || id[length] || length > ID_MAX_BYTES)
        return false;
    return !writer->profile->strict_ids || (length == STRICT_BYTES && !strpbrk(id, "_-"));
}

/* Whether the provider of this request gave the id itself (Kimi's look like "functions.f:0"
 * and have to come back so). */
static bool is_own(const struct wire_writer *writer, const struct item *call)
{
    return call->origin && !strcmp(call->origin->provider, writer->profile->name);
}

static bool is_sent_if_free(const struct wire_writer *writer, const struct item *call)
{
    return is_accepted(writer, call->call_id) ||
           (!writer->profile->strict_ids && is_own(writer, call));
}

static void make_id(const struct wire_writer *writer, struct wire_id *id, unsigned round)
{
    bool strict = writer->profile->strict_ids;
    size_t front = strict ? 0 : strlen(MADE);
    memcpy(id->made, MADE, front);
    put_letters(id->made + front, strict ? STRICT_BYTES : 11, fingerprint(id->id, round));
    id->sent = id->made;
}

static bool is_free(const struct wire_ids *ids, const char *sent)
{
    const struct wire_id *found;
    HASH_FIND(hh_sent, ids->by_sent, sent, strlen(sent), found);
    return !found;
}

static bool add_id(const struct wire_writer *writer, struct wire_id *id, const struct item *call)
{
    struct wire_ids *ids = writer->ids;
    id->id = id->sent = call->call_id;
    bool found = is_sent_if_free(writer, call) && is_free(ids, id->sent);
    for (unsigned round = 0; !found; round++) {
        make_id(writer, id, round);
        found = is_free(ids, id->sent);
    }
    HASH_ADD_KEYPTR(hh, ids->by_id, id->id, strlen(id->id), id);
    HASH_ADD_KEYPTR(hh_sent, ids->by_sent, id->sent, strlen(id->sent), id);
    return hash_added(id) && id->hh_sent.tbl;
}

static bool make_ids(const struct wire_writer *writer)
{
    const struct request *request = writer->request;
    struct wire_ids *ids = writer->ids;
    size_t count = 0;
    for (size_t i = 0; i < request->item_count; i++)
        count += request->items[i]->kind == ITEM_CALL;
    ids->items = calloc(count + 1, sizeof(*ids->items));
    struct wire_id *next = ids->items;
    for (size_t i = 0; next && i < request->item_count; i++)
        if (request->items[i]->kind == ITEM_CALL && !add_id(writer, next++, request->items[i]))
            next = NULL;
    ids->is_made = next != NULL;
    return ids->is_made;
}

void wire_ids_release(struct wire_ids *ids)
{
    HASH_CLEAR(hh, ids->by_id);
    HASH_CLEAR(hh_sent, ids->by_sent);
    free(ids->items);
    *ids = (struct wire_ids){0};
}

/* Whether nothing that was made for another call can be the same. */
static bool is_safe(const struct wire_writer *writer, const struct item *call)
{
    return !writer->profile->strict_ids && is_sent_if_free(writer, call) &&
           strncmp(call->call_id, MADE, strlen(MADE)) != 0;
}

/* NULL: no memory, and the body has failed. */
static const char *sent_id(const struct wire_writer *writer, const struct item *call)
{
    const struct wire_id *found = NULL;
    if (is_safe(writer, call))
        return call->call_id;
    if (writer->ids->is_made || make_ids(writer))
        HASH_FIND(hh, writer->ids->by_id, call->call_id, strlen(call->call_id), found);
    else
        wire_ids_release(writer->ids);
    if (!found)
        writer->body->failed = true;
    return found ? found->sent : NULL;
}

void wire_put_call_id(const struct wire_writer *writer, const struct item *call)
{
    const char *sent = sent_id(writer, call);
    if (sent)
        wire_put_string(writer->body, sent);
}

bool wire_keeps_id(const struct wire_writer *writer, const struct item *call)
{
    const char *sent = sent_id(writer, call);
    return sent && !strcmp(sent, call->call_id);
}

/* ---- names ---- */

/* What tools are called is a name everywhere (D20); a model may have invented another, or a
 * conversation may have come with it.  What is changed gets a tail by which it differs from all
 * names that would otherwise become the same. */
void wire_put_tool_name(struct text *out, const char *name)
{
    char tail[NAME_TAIL_BYTES + 1];
    size_t length = plain_length(name);
    if (length && !name[length] && length <= NAME_MAX_BYTES) {
        text_printf(out, "\"%s\"", name);
        return;
    }
    text_putc(out, '"');
    for (length = 0; name[length] && length < NAME_MAX_BYTES - NAME_TAIL_BYTES - 1; length++)
        text_putc(out, is_plain(name[length]) ? name[length] : '_');
    put_letters(tail, NAME_TAIL_BYTES, fingerprint(name, 0));
    text_printf(out, "%s_%s\"", length ? "" : "unnamed", tail);
}
