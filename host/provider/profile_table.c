/*
 * profile_table - the servers that are known without a word in the configuration, as data: where
 * they are, which variables tell of them, and what they do their own way.
 *
 * What is not said of a server is as its format has it (struct profile in provider.h).
 */
#include "provider/provider.h"

#include <string.h>

/* Models that take images.  One that is not here is asked with --images on: a wrong yes would
 * make every request of a session fail, a wrong no shows in a line. */
static const char *const seeing_openai[] = {"!gpt-4o-audio*",
                                            "!gpt-4o-realtime*",
                                            "!gpt-4o-search*",
                                            "!o1-mini*",
                                            "!o1-preview*",
                                            "!o3-mini*",
                                            "gpt-4o*",
                                            "gpt-4.1*",
                                            "gpt-4.5*",
                                            "gpt-4-turbo*",
                                            "chatgpt-4o*",
                                            "gpt-5*",
                                            "o1*",
                                            "o3*",
                                            "o4-mini*",
                                            NULL};
static const char *const seeing_anthropic[] = {"!claude-2*", "!claude-instant*", "claude-*", NULL};
/* The first that take them within a result of a tool. */
static const char *const seeing_gemini[] = {"gemini-[3-9]*", "gemini-[1-9][0-9]*", NULL};
static const char *const seeing_openrouter[] = {
    "!anthropic/claude-2*", "!anthropic/claude-instant*",
    "anthropic/claude-*",   "openai/gpt-4o*",
    "openai/gpt-4.1*",      "openai/gpt-5*",
    "google/gemini-*",      NULL};
static const char *const seeing_ollama[] = {"llava*",
                                            "bakllava*",
                                            "llama3.2-vision*",
                                            "llama4*",
                                            "qwen2.5vl*",
                                            "qwen3-vl*",
                                            "minicpm-v*",
                                            "moondream*",
                                            "!gemma3:1b*",
                                            "!gemma3:270m*",
                                            "gemma3*",
                                            "mistral-small3.1*",
                                            "mistral-small3.2*",
                                            "granite3.2-vision*",
                                            NULL};
static const char *const seeing_bedrock[] = {"!*anthropic.claude-v2*",
                                             "!*anthropic.claude-instant*", "*anthropic.claude-*",
                                             NULL};
static const char *const seeing_groq[] = {"meta-llama/llama-4-*", NULL};
static const char *const seeing_xai[] = {"!grok-3*",    "!grok-code*", "grok-2-vision*",
                                         "grok-[4-9]*", "grok-latest", NULL};
static const char *const seeing_together[] = {"meta-llama/Llama-4-*", "Qwen/Qwen2.5-VL-*",
                                              "Qwen/Qwen3-VL-*", NULL};

/* Chat Completions has no place for top_k; these have made one. */
static const char *const all_settings[] = {NULL};

/* Who asks, for the lists of those who use it. */
static const struct profile_pair openrouter_headers[] = {{.name = "X-Title", .value = "mortise"},
                                                         {0}};

static const struct profile profiles[] = {
    {
        .name = "openai",
        .wire = &wire_openai_chat,
        .base_url = "https://api.openai.com/v1",
        .base_url_env = "OPENAI_BASE_URL",
        .key_env = "OPENAI_API_KEY",
        .default_model = "gpt-4.1",
        .summary = "OpenAI Chat Completions",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF,
        .seeing = seeing_openai,
        .max_tokens_field = "max_completion_tokens",
        .takes_cache_key = true,
    },
    {
        .name = "openai-responses",
        .wire = &wire_openai_responses,
        .base_url = "https://api.openai.com/v1",
        .base_url_env = "OPENAI_BASE_URL",
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
        .key_env = "OPENROUTER_API_KEY",
        .default_model = "openrouter/auto",
        .summary = "OpenRouter: models of many providers behind one key",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT | PART_TAKES_PDF,
        .seeing = seeing_openrouter,
        .headers = openrouter_headers,
        .unsupported = all_settings,
    },
    {
        .name = "groq",
        .wire = &wire_openai_chat,
        .base_url = "https://api.groq.com/openai/v1",
        .base_url_env = "GROQ_BASE_URL",
        .key_env = "GROQ_API_KEY",
        .default_model = "llama-3.3-70b-versatile",
        .summary = "Groq",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .seeing = seeing_groq,
        .max_tokens_field = "max_completion_tokens",
    },
    {
        .name = "mistral",
        .wire = &wire_openai_chat,
        .base_url = "https://api.mistral.ai/v1",
        .base_url_env = "MISTRAL_BASE_URL",
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
        .key_env = "DEEPSEEK_API_KEY",
        .default_model = "deepseek-v4-flash",
        .summary = "DeepSeek: reasoning is kept and sent back",
        .takes = PART_TAKES_IMAGE,
        .reasoning_field = "reasoning_content",
    },
    {
        .name = "xai",
        .wire = &wire_openai_chat,
        .base_url = "https://api.x.ai/v1",
        .base_url_env = "XAI_BASE_URL",
        .key_env = "XAI_API_KEY",
        .default_model = "grok-latest",
        .summary = "xAI: Grok",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .seeing = seeing_xai,
        .max_tokens_field = "max_completion_tokens",
    },
    {
        .name = "together",
        .wire = &wire_openai_chat,
        .base_url = "https://api.together.xyz/v1",
        .base_url_env = "TOGETHER_BASE_URL",
        .key_env = "TOGETHER_API_KEY",
        .default_model = "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        .summary = "Together AI: open models",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .seeing = seeing_together,
        .unsupported = all_settings,
    },
    {
        /* The model is the name of a deployment. */
        .name = "azure",
        .wire = &wire_openai_chat,
        .base_url_env = "AZURE_OPENAI_ENDPOINT",
        .base_url_suffix = "/openai/v1",
        .key_env = "AZURE_OPENAI_API_KEY",
        .key_header = "api-key: ",
        .summary = "Azure OpenAI, its v1 interface: -m azure/DEPLOYMENT",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .seeing = seeing_openai,
        .takes_if_told = PART_TAKES_PDF,
        .max_tokens_field = "max_completion_tokens",
        .takes_cache_key = true,
    },
    {
        .name = "ollama",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:11434",
        .base_url_env = "OLLAMA_HOST",
        .base_url_suffix = "/v1",
        .key_env = "OLLAMA_API_KEY",
        .key_is_optional = true,
        .summary = "a local Ollama server",
        .is_tried = true,
        .takes = PART_TAKES_IMAGE,
        .seeing = seeing_ollama,
    },
    {
        .name = "llamacpp",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:8080",
        .base_url_env = "LLAMACPP_HOST",
        .base_url_suffix = "/v1",
        .key_env = "LLAMA_API_KEY",
        .key_is_optional = true,
        .summary = "a local llama.cpp server",
        .is_tried = true,
        .takes = PART_TAKES_IMAGE,
        .unsupported = all_settings,
    },
    {
        .name = "vllm",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:8000",
        .base_url_env = "VLLM_BASE_URL",
        .base_url_suffix = "/v1",
        .key_env = "VLLM_API_KEY",
        .key_is_optional = true,
        .summary = "a local vLLM server",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .unsupported = all_settings,
    },
    {
        .name = "lmstudio",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:1234",
        .base_url_env = "LMSTUDIO_BASE_URL",
        .base_url_suffix = "/v1",
        .key_env = "LM_API_TOKEN",
        .key_is_optional = true,
        .summary = "a local LM Studio server",
        .takes = PART_TAKES_IMAGE,
        .unsupported = all_settings,
    },
    {
        .name = "litellm",
        .wire = &wire_openai_chat,
        .base_url = "http://127.0.0.1:4000",
        .base_url_env = "LITELLM_PROXY_API_BASE",
        .base_url_suffix = "/v1",
        .key_env = "LITELLM_PROXY_API_KEY",
        .key_env_too = "LITELLM_API_KEY",
        .key_is_optional = true,
        .summary = "a LiteLLM proxy: models of many providers",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .takes_if_told = PART_TAKES_PDF,
        .unsupported = all_settings,
    },
    {
        .name = "compatible",
        .wire = &wire_openai_chat,
        .base_url_env = "COMPATIBLE_BASE_URL",
        .key_env = "COMPATIBLE_API_KEY",
        .key_is_optional = true,
        .summary = "any server that speaks Chat Completions: --base-url https://HOST/v1",
        .takes = PART_TAKES_IMAGE | PART_TAKES_IMAGE_AT,
        .unsupported = all_settings,
    },
    {
        .name = "script",
        .summary = "no model: says what a file tells it to (script/FILE)",
    },
    {
        .name = "offline",
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
