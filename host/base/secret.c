#include "base/secret.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/array.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/utf8.h"

#define SHORTEST      6
#define MARK          "[redacted]"
/* So much of a value at the end of a full buffer is taken for a value that was cut off. */
#define SHORTEST_PART 4

struct secret {
    size_t length;
    char value[];
};

/* Many redact at once; values are added now and then. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
    struct secret **items;
    size_t count, capacity;
} secrets;
static bool may_start[256];   /* bytes with which some form of a value begins */
static atomic_bool any_known; /* so that nothing is locked while there are none */

static bool is_known_locked(const char *value, size_t length)
{
    for (size_t i = 0; i < secrets.count; i++) {
        const struct secret *secret = secrets.items[i];
        if (secret->length == length && memcmp(secret->value, value, length) == 0)
            return true;
    }
    return false;
}

static bool add_form_locked(const char *value, size_t length)
{
    if (is_known_locked(value, length))
        return true;
    if (!array_reserve(&secrets, 1))
        return false;
    struct secret *secret = malloc(sizeof(*secret) + length);
    if (!secret)
        return false;
    secret->length = length;
    memcpy(secret->value, value, length);
    secrets.items[secrets.count++] = secret;
    may_start[(unsigned char)value[0]] = true;
    may_start['%'] = may_start['\\'] = true;
    atomic_store(&any_known, true);
    return true;
}

/* Both alphabets: the one of URLs has other signs for the last two. */
static bool add_base64_locked(char *form, size_t length)
{
    bool added = add_form_locked(form, length);
    for (size_t i = 0; i < length; i++)
        form[i] = form[i] == '+' ? '-' : form[i] == '/' ? '_' : form[i];
    return added && add_form_locked(form, length);
}

/* What stands in base64 for the value with 0, 1 or 2 bytes before it in a group of three, but for
 * the characters at both ends that its neighbours have a part in.  So it is known in whatever was
 * encoded together with it, such as the user and password of a header. */
static bool add_all_base64_locked(const char *value, size_t length)
{
    bool added = true;
    for (size_t before = 0; added && before < 3; before++) {
        struct text plain = TEXT_INIT;
        struct text form = TEXT_INIT;
        text_append(&plain, "\0\0", before);
        text_append(&plain, value, length);
        if (!plain.failed)
            base64_append(&form, plain.data, plain.length);
        size_t first = (before * 8 + 5) / 6;
        size_t end = (before + length) * 8 / 6;
        added = !plain.failed && !form.failed && add_base64_locked(form.data + first, end - first);
        text_wipe(&plain);
        text_wipe(&form);
    }
    return added;
}

/* The value itself comes last: once it is known, so are its forms. */
static bool add_locked(const char *value, size_t length)
{
    return is_known_locked(value, length) ||
           (add_all_base64_locked(value, length) && add_form_locked(value, length));
}

bool secret_add(const char *value, size_t length)
{
    if (length < SHORTEST)
        return true;
    pthread_rwlock_wrlock(&lock);
    bool added = add_locked(value, length);
    pthread_rwlock_unlock(&lock);
    return added;
}

bool secret_add_encoded(const char *value, size_t length)
{
    struct text meant = TEXT_INIT;
    for (size_t i = 0; i < length; i++) {
        int byte = value[i] == '%' && length - i > 2 ? hex_byte(value + i + 1) : -1;
        text_putc(&meant, byte >= 0 ? (char)byte : value[i]);
        i += byte >= 0 ? 2 : 0;
    }
    bool added =
        !meant.failed && secret_add(value, length) && secret_add(text_cstr(&meant), meant.length);
    text_wipe(&meant);
    return added;
}

void secret_clear(void)
{
    pthread_rwlock_wrlock(&lock);
    atomic_store(&any_known, false);
    memset(may_start, 0, sizeof(may_start));
    for (size_t i = 0; i < secrets.count; i++) {
        struct secret *secret = secrets.items[i];
        explicit_bzero(secret->value, secret->length);
        free(secret);
    }
    free(secrets.items);
    secrets.items = NULL;
    secrets.count = secrets.capacity = 0;
    pthread_rwlock_unlock(&lock);
}

/* How many bytes after the backslash at data[-1] escape the byte `c`; 0 = they do not. */
static size_t escaped_as(const char *data, size_t left, char c)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (left >= 5 && memcmp(data, "u00", 3) == 0)
        return (unsigned char)c < 0x80 && hex_byte(data + 3) == c ? 5 : 0;
    for (const char *pair = letters; left && *pair; pair += 2)
        if (data[0] == pair[0] && c == pair[1])
            return 1;
    return 0;
}

/* How many bytes of the text write the byte `c` at `data`; 0 = they write another.
 * A JSON text inside a JSON string, and again, has its backslashes doubled. */
static size_t written_as(const char *data, size_t left, char c)
{
    if (data[0] == '%' && left >= 3 && hex_byte(data + 1) == (unsigned char)c)
        return 3;
    for (size_t slashes = 1; slashes < left && slashes <= 7; slashes++) {
        if (data[slashes - 1] != '\\')
            break;
        size_t n = escaped_as(data + slashes, left - slashes, c);
        if (n)
            return slashes + n;
    }
    return data[0] == c ? 1 : 0;
}

/* How many bytes at `data` are the value, in whatever form; 0 = it is not there.  With
 * `cut`, the text may end inside the value. */
static size_t spelled_at(const struct secret *secret, const char *data, size_t left, bool cut)
{
    if (left >= secret->length && memcmp(data, secret->value, secret->length) == 0)
        return secret->length;
    size_t used = 0;
    for (size_t i = 0; i < secret->length; i++) {
        if (used == left)
            return cut && i >= SHORTEST_PART ? used : 0;
        size_t n = written_as(data + used, left - used, secret->value[i]);
        if (!n)
            return 0;
        used += n;
    }
    return used;
}

/* The longest value that starts here; 0 = none. */
static size_t longest_at(const char *data, size_t left, bool cut)
{
    size_t longest = 0;
    if (!may_start[(unsigned char)data[0]])
        return 0;
    bool is_coded = data[0] == '%' || data[0] == '\\';
    for (size_t i = 0; i < secrets.count; i++) {
        if (!is_coded && secrets.items[i]->value[0] != data[0])
            continue;
        size_t n = spelled_at(secrets.items[i], data, left, cut);
        if (n > longest)
            longest = n;
    }
    return longest;
}

/* Appends the redacted text to `out`; false, and nothing appended, when nothing was found.
 * Values that overlap become one mark. */
static bool redact_locked(const char *data, size_t length, bool cut, struct text *out)
{
    size_t shown = 0; /* everything before this is done */
    for (size_t i = 0; i < length; i++) {
        size_t end = i + longest_at(data + i, length - i, cut);
        if (end == i)
            continue;
        for (size_t inside = i + 1; inside < end; inside++) {
            size_t other = inside + longest_at(data + inside, length - inside, cut);
            if (other > end)
                end = other;
        }
        text_append(out, data + shown, i - shown);
        text_puts(out, MARK);
        shown = end;
        i = end - 1;
    }
    if (!shown)
        return false;
    text_append(out, data + shown, length - shown);
    return true;
}

static bool redact(const char *data, size_t length, bool cut, struct text *out)
{
    if (!atomic_load(&any_known))
        return false;
    pthread_rwlock_rdlock(&lock);
    bool found = redact_locked(data, length, cut, out);
    pthread_rwlock_unlock(&lock);
    return found;
}

/* Without memory for the redacted text the text is emptied: it must not be shown. */
void secret_redact(struct text *text)
{
    struct text clean = TEXT_INIT;
    if (!redact(text_cstr(text), text->length, false, &clean))
        return;
    bool failed = text->failed || clean.failed;
    if (clean.failed) {
        text_release(&clean);
        text_reset(text);
    } else {
        text_release(text);
        *text = clean;
    }
    text->failed = failed;
}

void secret_redact_buffer(char *buffer, size_t size)
{
    if (!size)
        return;
    size_t length = strnlen(buffer, size);
    /* Whoever filled it may have cut it, a character of up to four bytes before its end. */
    bool full = length + 4 >= size;
    struct text clean = TEXT_INIT;
    if (!redact(buffer, length, full, &clean))
        return;
    const char *shown = clean.failed ? MARK : text_cstr(&clean);
    size_t fits = utf8_cut(shown, strlen(shown), size - 1);
    memcpy(buffer, shown, fits);
    buffer[fits] = '\0';
    text_release(&clean);
}

void secret_free(char *value)
{
    if (value)
        explicit_bzero(value, strlen(value));
    free(value);
}

void secret_hide_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool secret_memory_is_hidden(void)
{
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}
