#include "provider/aws_credentials.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/json.h"
#include "base/secret.h"
#include "provider/aws_file.h"

#define MOST_BYTES     ((size_t)64 << 10) /* of what a command prints */
#define REGION_MOST    32
#define RENEW_BEFORE_S 300 /* they have to be good when the request arrives */

/* ---- keeping ---- */

static void free_secret(char **value)
{
    if (*value)
        explicit_bzero(*value, strlen(*value));
    free(*value);
    *value = NULL;
}

void aws_credentials_release(struct aws_credentials *credentials)
{
    free_secret(&credentials->access_key_id);
    free_secret(&credentials->secret_access_key);
    free_secret(&credentials->session_token);
    free(credentials->from);
    *credentials = (struct aws_credentials){0};
}

/* The bytes end up in header lines. */
static bool is_clean(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value <= ' ' || (unsigned char)*value >= 0x7F)
            return false;
    return true;
}

static bool keep_one(char **to, const char *name, const char *value, const char *from,
                     struct error *error)
{
    if (!value || !*value)
        return true;
    if (!is_clean(value))
        return error_set(error, ERROR_CONFIG,
                         "%s from %s holds a space, a line break or another character that no key "
                         "has",
                         name, from);
    *to = secret_add(value, strlen(value)) ? strdup(value) : NULL;
    return *to || error_memory(error);
}

/* Three values that came from one place: a token of another one would make them worthless. */
static bool keep(struct aws_credentials *out, const char *id, const char *secret, const char *token,
                 const char *from, struct error *error)
{
    if (!(out->from = strdup(from)))
        return error_memory(error);
    return keep_one(&out->access_key_id, "the access key id", id, from, error) &&
           keep_one(&out->secret_access_key, "the secret access key", secret, from, error) &&
           keep_one(&out->session_token, "the session token", token, from, error);
}

/* ---- the environment ---- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* *found stays false when it names none. */
static bool from_environment(struct aws_credentials *out, bool *found, struct error *error)
{
    const char *id = variable("AWS_ACCESS_KEY_ID");
    const char *secret = variable("AWS_SECRET_ACCESS_KEY");
    if (!id && !secret)
        return true;
    if (!id || !secret)
        return error_set(error, ERROR_CONFIG, "%s is set and %s is not; set both",
                         id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                         id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
    *found = out->lasting = true;
    return keep(out, id, secret, variable("AWS_SESSION_TOKEN"), "the environment", error);
}

/* ---- what a command prints ---- */

static bool read_digits(const char **at, int count, int *number)
{
    *number = 0;
    for (; count > 0; count--, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return true;
}

/* "Z", "+02:00" or "-0730", in seconds. */
static bool read_offset(const char *at, int *seconds)
{
    int hours, minutes;
    int sign = *at == '-' ? -1 : 1;
    *seconds = 0;
    if (*at == 'Z' || *at == 'z')
        return !at[1];
    if (*at != '+' && *at != '-')
        return false;
    at++;
    if (!read_digits(&at, 2, &hours))
        return false;
    if (*at == ':')
        at++;
    if (!read_digits(&at, 2, &minutes))
        return false;
    *seconds = sign * (hours * 3600 + minutes * 60);
    return !*at;
}

/* "2030-01-31T12:00:00Z", also with a fraction. */
static bool read_time(const char *text, time_t *out)
{
    struct tm utc = {0};
    int offset;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
    if (!rest)
        return false;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (!read_offset(rest, &offset))
        return false;
    *out = timegm(&utc) - offset;
    return true;
}

/* What it printed is never quoted: the keys are in it. */
static bool read_document(struct aws_credentials *out, const json_t *document, const char *from,
                          struct error *error)
{
    const char *id = json_member_string(document, "AccessKeyId");
    const char *secret = json_member_string(document, "SecretAccessKey");
    const char *expires = json_member_string(document, "Expiration");
    if (json_member_integer(document, "Version", 0) != 1 || !id || !*id || !secret || !*secret)
        return error_set(error, ERROR_CONFIG,
                         "%s printed no JSON object with 'Version' 1, 'AccessKeyId' and "
                         "'SecretAccessKey'",
                         from);
    out->lasting = !expires;
    if (expires && !read_time(expires, &out->expires))
        return error_set(error, ERROR_CONFIG, "%s printed an 'Expiration' that is no date", from);
    return keep(out, id, secret, json_member_string(document, "SessionToken"), from, error);
}

static bool run_process(struct aws_credentials *out, const char *command, const char *profile,
                        const char *path, struct error *error)
{
    struct text from = TEXT_INIT, printed = TEXT_INIT;
    text_printf(&from, "'credential_process' of profile '%s' in '%s'", profile, path);
    bool ok = !from.failed || error_memory(error);
    ok = ok && command_read(command, from.data, MOST_BYTES, &printed, error);
    if (ok) {
        struct error problem = ERROR_INIT; /* not told: it quotes what was printed */
        json_t *document = json_parse(text_cstr(&printed), printed.length, NULL, &problem);
        ok = problem.kind == ERROR_INTERNAL ? error_memory(error)
                                            : read_document(out, document, from.data, error);
        json_decref(document);
    }
    text_wipe(&printed);
    text_release(&from);
    return ok;
}

/* ---- files ---- */

static bool keep_keys(struct aws_credentials *out, const struct aws_file *file, const char *profile,
                      const char *id, struct error *error)
{
    struct text secret = TEXT_INIT, token = TEXT_INIT, from = TEXT_INIT;
    bool ok = true;
    text_printf(&from, "profile '%s' of '%s'", profile, file->path.data);
    if (!aws_file_value(file, profile, "aws_secret_access_key", &secret) && !secret.failed)
        ok = error_set(error, ERROR_CONFIG,
                       "%s has an 'aws_access_key_id' and no 'aws_secret_access_key'",
                       text_cstr(&from));
    aws_file_value(file, profile, "aws_session_token", &token);
    if (ok && (secret.failed || token.failed || from.failed))
        ok = error_memory(error);
    ok = ok && keep(out, id, secret.data, token.data, from.data, error);
    text_wipe(&secret);
    text_wipe(&token);
    text_release(&from);
    return ok;
}

static bool from_file(struct aws_credentials *out, const struct aws_file *file, const char *profile,
                      bool *found, struct error *error)
{
    struct text value = TEXT_INIT;
    bool ok = true;
    if (aws_file_value(file, profile, "aws_access_key_id", &value)) {
        *found = true;
        ok = keep_keys(out, file, profile, value.data, error);
    } else if (!value.failed && aws_file_value(file, profile, "credential_process", &value)) {
        *found = true;
        ok = run_process(out, value.data, profile, file->path.data, error);
    }
    if (value.failed)
        ok = error_memory(error);
    text_wipe(&value);
    return ok;
}

/* ---- none ---- */

/* Other ways of signing in, each by the key that shows it. */
static const char *const other_ways[] = {"sso_session",   "sso_start_url",
                                         "role_arn",      "web_identity_token_file",
                                         "login_session", "credential_source"};

static const char *other_way(const struct aws_file *config, const char *profile)
{
    struct text value = TEXT_INIT;
    const char *way = NULL;
    for (size_t i = 0; !way && i < sizeof(other_ways) / sizeof(other_ways[0]); i++)
        if (aws_file_value(config, profile, other_ways[i], &value))
            way = other_ways[i];
    text_release(&value);
    return way;
}

static bool none(const struct aws_file *credentials, const struct aws_file *config,
                 const char *profile, struct error *error)
{
    const char *way = other_way(config, profile);
    bool is_named = strcmp(profile, "default") != 0;
    if (way)
        return error_set(error, ERROR_CONFIG,
                         "profile '%s' signs in by '%s', which Amazon's own tool has to do: "
                         "eval \"$(aws configure export-credentials --profile %s --format env)\"",
                         profile, way, profile);
    if (is_named && !aws_file_has_profile(credentials, profile) &&
        !aws_file_has_profile(config, profile))
        return error_set(error, ERROR_CONFIG, "no profile '%s' in '%s' or '%s'; check AWS_PROFILE",
                         profile, text_cstr(&credentials->path), text_cstr(&config->path));
    return error_set(error, ERROR_CONFIG,
                     "no keys for Amazon; set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
                     "AWS_SECRET_ACCESS_KEY, or name them in profile '%s' of '%s'",
                     profile, text_cstr(&credentials->path));
}

static bool from_files(struct aws_credentials *out, struct error *error)
{
    const char *profile = aws_profile_name();
    struct aws_file credentials = {0}, config = {0};
    bool found = false;
    bool ok = aws_file_read(&credentials, AWS_FILE_CREDENTIALS, error) &&
              from_file(out, &credentials, profile, &found, error);
    if (ok && !found)
        ok = aws_file_read(&config, AWS_FILE_CONFIG, error) &&
             from_file(out, &config, profile, &found, error) &&
             (found || none(&credentials, &config, profile, error));
    aws_file_release(&credentials);
    aws_file_release(&config);
    return ok;
}

/* ---- all of it ---- */

static bool is_good(const struct aws_credentials *credentials)
{
    return credentials->access_key_id &&
           (credentials->lasting ||
            (credentials->expires && credentials->expires - RENEW_BEFORE_S > time(NULL)));
}

bool aws_credentials_find(struct aws_credentials *credentials, struct error *error)
{
    bool found = false;
    if (is_good(credentials))
        return true;
    aws_credentials_release(credentials);
    if (from_environment(credentials, &found, error) && (found || from_files(credentials, error)))
        return true;
    aws_credentials_release(credentials);
    return false;
}

/* ---- region ---- */

static bool is_region(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '-')
            return false;
    return length > 0 && length <= REGION_MOST;
}

bool aws_region_find(struct text *region, struct error *error)
{
    const char *named = variable("AWS_REGION");
    struct aws_file config = {0};
    bool ok = true;
    text_reset(region);
    if (!named)
        named = variable("AWS_DEFAULT_REGION");
    if (named)
        text_puts(region, named);
    else
        ok = aws_file_read(&config, AWS_FILE_CONFIG, error);
    if (ok && !named)
        aws_file_value(&config, aws_profile_name(), "region", region);
    if (ok && region->failed)
        ok = error_memory(error);
    else if (ok && !region->length)
        ok = error_set(error, ERROR_CONFIG,
                       "no region for Amazon; set AWS_REGION, such as us-east-1, or 'region' of "
                       "profile '%s' in '%s'",
                       aws_profile_name(), text_cstr(&config.path));
    else if (ok && !is_region(region->data))
        ok = error_set(error, ERROR_CONFIG, "'%s' is no region; one looks like us-east-1",
                       region->data);
    aws_file_release(&config);
    return ok;
}
