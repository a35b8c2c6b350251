/*
 * script - a model that says what a file tells it to: for tests and demonstrations.
 *
 * The file is JSON: {"turns": [TURN, …]}; request n gets turn n, one request more is an error.
 *   TURN   {"text": "…", "reasoning": "…", "refusal": "…",
 *           "calls": [{"id": "…", "name": "…", "arguments": {…} or "raw text"}],
 *           "stop": "end|tool_use|length|content_filter|refusal|pause", "usage": {"input_tokens": n, …},
 *           "error": {"kind": "…", "message": "…", "retryable": true},
 *           "expect": ["a text that the request must hold", …],
 *           "delay_ms": n, "chunk": n}
 * "text" is sent in pieces of `chunk` bytes (default 16) on character borders; "delay_ms"
 * waits before the answer and before each piece.  Arguments are sent in pieces, too.  `stop`
 * defaults to tool_use with calls and to end without; null is a connection that breaks off.
 * "error" ends the turn after what it says; a retry is a request like any other.
 */
#ifndef PROVIDER_SCRIPT_H
#define PROVIDER_SCRIPT_H

#include "provider/provider.h"

/* Reads and checks the whole file: NULL with *error (kind config) that names turn and member. */
struct client *script_client_new(const char *path, struct error *error);

#endif
