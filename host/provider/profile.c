#include "provider/provider.h"

#include <string.h>
#include <strings.h>

#include "provider/aws_credentials.h"

/* Models that take images.  One that is not here is asked with --images on: a wrong yes would
 * make every request of a session fail, a wrong no shows in a line. */
static const char *const seeing_openai[] = {"!gpt-4o-audio*", "!gpt-4o-realtime*", "!gpt-4o-search*",
                                            "!o1-mini*",      "!o1-preview*",      "!o3-mini*",
                                            "gpt-4o*",        "gpt-4.1*",          "gpt-4.5*",
                                            "gpt-4-turbo*",   "chatgpt-4o*",       "gpt-5*",
                                            "o1*",            "o3*",               "o4-mini*",
                                            NULL};
static const char *const seeing_anthropic[] = {"!claude-2*", "!claude-instant*", "claude-*", NULL};
/* The first that take them within a result of a tool. */
static const char *const seeing_gemini[] = {"gemini-[3-9]*", "gemini-[1-9][0-9]*", NULL};
static const char *const seeing_openrouter[] = {
    "!anthropic/claude-2*", "!anthropic/claude-instant*", "anthropic/claude-*", "openai/gpt-4o*",
    "openai/gpt-4.1*",      "openai/gpt-5*",              "google/gemini-*",    NULL};
static const char *const seeing_ollama[] = {
    "llava*",     "bakllava*",   "llama3.2-vision*", "llama4*", "qwen2.5vl*", "qwen3-vl*",
    "minicpm-v*", "moondream*",  "!gemma3:1b*",      "!gemma3:270m*", "gemma3*",
    "mistral-small3.1*", "mistral-small3.2*", "granite3.2-vision*", NULL};
static const char *const seeing_bedrock[] = {"!*anthropic.claude-v2*", "!*anthropic.claude-instant*",
                                             "*anthropic.claude-*", NULL};
static const char *const seeing_groq[] = {"meta-llama/llama-4-*", NULL};

static const struct profile profiles[] = {
    {
        .name = "openai",
        .wire = &wire_openai_chat,
        .base_url = "https://api.openai.com/v1",
        .base_url_env = "OPENAI_BASE_URL",
        .base_url_suffix = "",
        .key_env = "OPENAI_API_KEY",
        .default_model = "gpt-4.1",
        .max_tokens_field = "max_completion_tokens",
        .takes_cache_key = true,
        .summary = "OpenAI, and any server that speaks Chat Completions (vLLM, llama.cpp, …)",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF,
        .seeing = seeing_openai,
    },
    {
        .name = "openai-responses",
        .wire = &wire_openai_responses,
        .base_url = "https://api.openai.com/v1",
        .base_url_env = "OPENAI_BASE_URL",
        .base_url_suffix = "",
        .key_env = "OPENAI_API_KEY",
        .default_model = "gpt-5",
        .summary = "OpenAI Responses: reasoning is kept and sent back",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF | PART_TAKES_PDF_AT,
        .seeing = seeing_openai,
    },
    {
        .name = "anthropic",
        .wire = &wire_anthropic,
        .base_url = "https://api.anthropic.com",
        .base_url_env = "ANTHROPIC_BASE_URL",
        .base_url_suffix = "/v1",
        .key_env = "ANTHROPIC_API_KEY",
        .default_model = "claude-sonnet-4-5",
        .summary = "Anthropic Messages: thinking is kept and sent back",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF | PART_TAKES_PDF_AT,
        .seeing = seeing_anthropic,
    },
    {
        .name = "bedrock",
        .wire = &wire_bedrock,
        .base_url = "https://bedrock-runtime.{region}.amazonaws.com",
        .base_url_env = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        .base_url_suffix = "",
        .key_env = "AWS_BEARER_TOKEN_BEDROCK",
        .aws_service = "bedrock",
        .default_model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        .summary = "Claude on Amazon Bedrock: thinking is kept and sent back",
        .takes = PART_TAKES_IMAGE | PART_TAKES_PDF,
        .seeing = seeing_bedrock,
    },
    {
        .name = "gemini",
        .wire = &wire_gemini,
        .base_url = "https://generativelanguage.googleapis.com",
        .base_url_env = "GEMINI_BASE_URL",
        .base_url_suffix = "/v1beta",
        .key_env = "GEMINI_API_KEY",
        .key_env_too = "GOOGLE_API_KEY",
        .default_model = "gemini-2.5-flash",
        .summary = "Google Gemini: thought signatures are kept and sent back",
        .takes = PART_TAKES_IMAGE | PART_TAKES_PDF,
        .seeing = seeing_gemini,
        .takes_if_told = PART_TAKES_IMAGE_AT | PART_TAKES_PDF_AT,
    },
    {
        .name = "openrouter",
        .wire = &wire_openai_chat,
        .base_url = "https://openrouter.ai/api/v1",
        .base_url_env = "OPENROUTER_BASE_URL",
        .base_url_suffix = "",
        .key_env = "OPENROUTER_API_KEY",
        .default_model = "openrouter/auto",
        .summary = "OpenRouter: models of many providers behind one key",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF,
        .seeing = seeing_openrouter,
    },
    {
        .name = "ollama",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:11434",
        .base_url_env = "OLLAMA_HOST",
        .base_url_suffix = "/v1",
        .summary = "a local Ollama server; needs no key",
        .takes = PART_TAKES_IMAGE,
        .seeing = seeing_ollama,
    },
    {
        .name = "groq",
        .wire = &wire_openai_chat,
        .base_url = "https://api.groq.com/openai/v1",
        .base_url_env = "GROQ_BASE_URL",
        .base_url_suffix = "",
        .key_env = "GROQ_API_KEY",
        .default_model = "llama-3.3-70b-versatile",
        .summary = "Groq",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .seeing = seeing_groq,
    },
    {
        .name = "mistral",
        .wire = &wire_openai_chat,
        .base_url = "https://api.mistral.ai/v1",
        .base_url_env = "MISTRAL_BASE_URL",
        .base_url_suffix = "",
        .key_env = "MISTRAL_API_KEY",
        .default_model = "mistral-medium-latest",
        .summary = "Mistral",
        .takes = 0, /* a user's message behind a result is refused */
        .strict_ids = true,
    },
    {
        .name = "deepseek",
        .wire = &wire_openai_chat,
        .base_url = "https://api.deepseek.com/v1",
        .base_url_env = "DEEPSEEK_BASE_URL",
        .base_url_suffix = "",
        .key_env = "DEEPSEEK_API_KEY",
        .default_model = "deepseek-chat",
        .summary = "DeepSeek: reasoning is kept and sent back",
        .reasoning_field = "reasoning_content",
        .takes = PART_TAKES_IMAGE,
    },
    {
        .name = "script",
        .base_url_suffix = "",
        .summary = "no model: says what a file tells it to (script/FILE)",
    },
    {
        .name = "offline",
        .base_url_suffix = "",
        .summary = "no model: calls the tool that fits the prompt best; needs no network",
    },
};

#define PROFILE_COUNT (sizeof(profiles) / sizeof(profiles[0]))

const struct profile *profile_at(size_t index)
{
    return index < PROFILE_COUNT ? &profiles[index] : NULL;
}

const struct profile *profile_find(const char *name, size_t length)
{
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        if (strlen(profiles[i].name) == length && memcmp(profiles[i].name, name, length) == 0)
            return &profiles[i];
    return NULL;
}

const char *const *profile_unsupported(const struct profile *profile)
{
    return profile->unsupported ? profile->unsupported : profile->wire->unsupported;
}

const char *profile_key(const struct profile *profile, const char **from)
{
    const char *const names[] = {profile->key_env, profile->key_env_too};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *key = names[i] ? getenv(names[i]) : NULL;
        if (!key || !*key)
            continue;
        if (from)
            *from = names[i];
        return key;
    }
    return NULL;
}

static bool starts_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

/* "HOST" or "HOST:PORT" of a local server becomes a URL with the port of the profile.  A
 * server that listens on every address is reached at the local one. */
static void append_host(struct text *out, const struct profile *profile, const char *host)
{
    static const char any[] = "0.0.0.0";
    size_t length = strcspn(host, "/");
    size_t any_length = sizeof(any) - 1;
    if (starts_with(host, any) && (host[any_length] == ':' || length == any_length)) {
        text_puts(out, "http://127.0.0.1");
        host += any_length;
        length -= any_length;
    } else {
        text_puts(out, "http://");
    }
    const char *closed = memchr(host, ']', length); /* of an IPv6 address */
    const char *from = closed ? closed : host;
    text_append(out, host, length);
    if (!memchr(from, ':', length - (size_t)(from - host)))
        text_puts(out, strrchr(profile->base_url, ':'));
    text_puts(out, host + length);
}

static void strip(struct text *url, const char *end)
{
    size_t length = strlen(end);
    if (length && url->length > length &&
        memcmp(url->data + url->length - length, end, length) == 0) {
        url->length -= length;
        url->data[url->length] = '\0';
    }
}

static bool check_url(const char *url, const char *from, struct error *error)
{
    if (!starts_with(url, "http://") && !starts_with(url, "https://"))
        return error_set(error, ERROR_CONFIG, "%s must begin with 'http://' or 'https://'", from);
    const char *host = strchr(url, ':') + 3;
    if (!*host || *host == '/' || *host == ':')
        return error_set(error, ERROR_CONFIG, "%s names no host", from);
    if (url[strcspn(url, "?#")])
        return error_set(error, ERROR_CONFIG, "%s may hold no '?' and no '#'", from);
    for (const char *c = url; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F)
            return error_set(error, ERROR_CONFIG, "%s holds a space or a control character", from);
    return true;
}

/* Puts Amazon's region where the URL wants it. */
static bool put_region(struct text *url, struct error *error)
{
    static const char place[] = "{region}";
    const char *at = strstr(text_cstr(url), place);
    struct text region = TEXT_INIT, whole = TEXT_INIT;
    if (!at)
        return true;
    bool found = aws_region_find(&region, error);
    if (found) {
        text_append(&whole, url->data, (size_t)(at - url->data));
        text_puts(&whole, region.data);
        text_puts(&whole, at + strlen(place));
        text_release(url);
        *url = whole;
    }
    text_release(&region);
    return found;
}

bool profile_base_url(const struct profile *profile, const char *given, struct text *out,
                      struct error *error)
{
    const char *from = "the base URL";
    const char *url = given;
    if (!url && profile->base_url_env) {
        url = getenv(profile->base_url_env);
        from = profile->base_url_env;
    }
    if (!url || !*url)
        url = profile->base_url;

    text_reset(out);
    if (!strstr(url, "://") && starts_with(profile->base_url, "http://"))
        append_host(out, profile, url);
    else
        text_puts(out, url);
    while (out->length && out->data[out->length - 1] == '/')
        strip(out, "/");
    /* Many write the "/v1" although the variable leaves it out. */
    strip(out, profile->base_url_suffix);
    text_puts(out, profile->base_url_suffix);
    return put_region(out, error) &&
           (out->failed ? error_memory(error) : check_url(text_cstr(out), from, error));
}
