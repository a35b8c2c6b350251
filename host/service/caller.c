#include "service/caller.h"

#include <stdarg.h>
#include <string.h>

#include "service/owner.h"
#include "tool/call.h"

bool caller_begin(struct caller *caller, mortise_call *call, const char *component)
{
    *caller = (struct caller){.call = call, .component = component};
    struct host_services *face = call_services(call, caller->plugin, sizeof(caller->plugin));
    if (!face)
        return false;
    caller->services = services_of(face);
    return true;
}

bool caller_begin_outside(struct caller *caller, const mortise_host *host, const char *component)
{
    struct host_services *face = host ? host_api_services(host_api_of(host)) : NULL;
    *caller = (struct caller){.component = component};
    if (!face)
        return false;
    caller->services = services_of(host_services_ref(face));
    return true;
}

void caller_end(struct caller *caller)
{
    text_release(&caller->reason);
    arena_release(&caller->memory);
    host_services_unref(&caller->services->face);
}

/* ---- whose data ---- */

/* NULL and "" are the same: nobody said. */
static const char *known(struct caller *caller, const char *key, const char *fallback)
{
    const char *value = caller->call->ops->context(caller->call, key);
    return value && *value ? value : fallback;
}

mortise_status caller_owner(struct caller *caller, mortise_owner kind, struct text *owner,
                            bool *lasts)
{
    struct error error = ERROR_INIT;
    const char *session = known(caller, "session", NULL);
    bool ok;
    *lasts = kind != MORTISE_OF_SESSION || session;
    switch (kind) {
    case MORTISE_OF_SESSION:
        ok = session ? owner_of_session(owner, session, &error)
                     : owner_of_run(owner, known(caller, "invocation", "unknown"), &error);
        break;
    case MORTISE_OF_USER:
        ok = owner_of_user(owner, known(caller, "tenant", ""), known(caller, "user", "anonymous"),
                           &error);
        break;
    case MORTISE_OF_APP:
        ok = owner_of_app(owner, known(caller, "app", known(caller, "agent", "mortise")), &error);
        break;
    default:
        return caller_invalid(caller, "there is no owner %u", (unsigned)kind);
    }
    return ok ? MORTISE_OK : caller_error(caller, &error);
}

/* ---- failures ---- */

static mortise_status fail_with(struct caller *caller, mortise_status status,
                                mortise_category category, const char *code, const char *message)
{
    char full_code[64];
    text_reset(&caller->reason);
    text_puts(&caller->reason, message);
    if (!caller->call)
        return status;
    snprintf(full_code, sizeof(full_code), "%s.%s", caller->component, code);
    mortise_error error = {.size = sizeof(error),
                           .category = category,
                           .component = caller->component,
                           .code = full_code,
                           .message = message,
                           .message_length = strlen(message)};
    caller->call->ops->fail(caller->call, &error);
    return status;
}

static mortise_status fail_format(struct caller *caller, mortise_status status,
                                  mortise_category category, const char *code, const char *format,
                                  va_list args) __attribute__((format(printf, 5, 0)));

static mortise_status fail_format(struct caller *caller, mortise_status status,
                                  mortise_category category, const char *code, const char *format,
                                  va_list args)
{
    struct text message = TEXT_INIT;
    text_vprintf(&message, format, args);
    status = message.failed ? caller_no_memory(caller)
                            : fail_with(caller, status, category, code, text_cstr(&message));
    text_release(&message);
    return status;
}

mortise_status caller_fail(struct caller *caller, mortise_status status, mortise_category category,
                           const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = fail_format(caller, status, category, code, format, args);
    va_end(args);
    return status;
}

mortise_status caller_invalid(struct caller *caller, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mortise_status status =
        fail_format(caller, MORTISE_INVALID, MORTISE_INVALID_INPUT, "invalid", format, args);
    va_end(args);
    return status;
}

mortise_status caller_error(struct caller *caller, const struct error *error)
{
    return fail_with(caller, MORTISE_FAILED, MORTISE_INTERNAL, "failed", error->message);
}

mortise_status caller_no_memory(struct caller *caller)
{
    return fail_with(caller, MORTISE_NO_MEMORY, MORTISE_INTERNAL, "memory", "out of memory");
}

/* ---- memory of the call ---- */

void *caller_alloc(struct caller *caller, size_t bytes)
{
    return caller->call ? caller->call->ops->alloc(caller->call, bytes)
                        : arena_alloc(&caller->memory, bytes);
}

char *caller_copy(struct caller *caller, const char *data, size_t length)
{
    char *copy = length < SIZE_MAX ? caller_alloc(caller, length + 1) : NULL;
    if (copy && length)
        memcpy(copy, data, length);
    return copy;
}
