#include "input.h"

#include <stdio.h>
#include <string.h>

#include <mortise/json.h>

/* NULL: nobody here can answer that. */
static const char *answer_to(const char *method)
{
    if (strcmp(method, "elicitation/create") == 0)
        return "{\"action\":\"cancel\"}";
    if (strcmp(method, "roots/list") == 0)
        return "{\"roots\":[]}";
    return NULL;
}

static bool answer_requests(const char *requests, struct buffer *params, char *problem, size_t size)
{
    const char *request = NULL;
    char key[256], method[64];
    const char *comma = "";
    buffer_puts(params, ",\"inputResponses\":{");
    while (mortise_json_next_member(requests, &request, key, sizeof(key)) == MORTISE_OK) {
        const char *answer = NULL;
        if (mortise_json_string(request, "method", method, sizeof(method)) == MORTISE_OK)
            answer = answer_to(method);
        else
            snprintf(method, sizeof(method), "an unknown request");
        if (!answer || strlen(key) == sizeof(key) - 1) {
            snprintf(problem, size,
                     "it wants an answer to %s before it goes on, and nobody here "
                     "can give one",
                     method);
            return false;
        }
        buffer_puts(params, comma);
        buffer_quote(params, key, strlen(key));
        buffer_puts(params, ":");
        buffer_puts(params, answer);
        comma = ",";
    }
    buffer_puts(params, "}");
    return true;
}

/* As it was written, to the byte. */
static void put_state(const char *result, struct buffer *params)
{
    const char *state;
    if (mortise_json_value(result, "requestState", &state) != MORTISE_OK)
        return;
    buffer_puts(params, ",\"requestState\":");
    buffer_put(params, state, mortise_json_length(state));
}

bool input_answer(const char *result, struct buffer *params, char *problem, size_t size)
{
    const char *requests;
    if (mortise_json_object(result, "inputRequests", &requests) == MORTISE_OK &&
        !answer_requests(requests, params, problem, size))
        return false;
    put_state(result, params);
    if (params->failed)
        snprintf(problem, size, "there is no memory");
    return !params->failed;
}
