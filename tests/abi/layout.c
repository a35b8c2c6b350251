/*
 * The layout of the plugin interface, frozen: size and offsets of every public struct on
 * 64-bit Linux, and the value of every constant.  A plugin that was built once must load for
 * ever, so nothing here changes; what is added to a struct at its end gets a line, and SIZE
 * becomes what it is then.
 */
#include <mortise/plugin.h>
#include <mortise/services.h>

#define SIZE(type, bytes)         _Static_assert(sizeof(type) == (bytes), #type)
#define AT(type, member, offset)  _Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define VALUE(constant, value)    _Static_assert((constant) == (value), #constant)

#if defined(__x86_64__) && defined(__LP64__)

SIZE(mortise_stamp, 8);
AT(mortise_stamp, magic, 0);
AT(mortise_stamp, abi_major, 4);
AT(mortise_stamp, abi_minor, 6);

SIZE(mortise_error, 48);
AT(mortise_error, size, 0);
AT(mortise_error, category, 4);
AT(mortise_error, component, 8);
AT(mortise_error, code, 16);
AT(mortise_error, message, 24);
AT(mortise_error, message_length, 32);
AT(mortise_error, retry_after_ms, 40);

SIZE(mortise_list, 16);
AT(mortise_list, items, 0);
AT(mortise_list, count, 8);

SIZE(mortise_field, 88);
AT(mortise_field, name, 0);
AT(mortise_field, description, 8);
AT(mortise_field, kind, 16);
AT(mortise_field, flags, 20);
AT(mortise_field, offset, 24);
AT(mortise_field, seen_offset, 28);
AT(mortise_field, min, 32);
AT(mortise_field, max, 40);
AT(mortise_field, fallback, 48);
AT(mortise_field, choices, 56);
AT(mortise_field, record, 64);
AT(mortise_field, pattern, 72);
AT(mortise_field, format, 80);

SIZE(mortise_shape, 24);
AT(mortise_shape, size, 0);
AT(mortise_shape, struct_size, 4);
AT(mortise_shape, field_size, 8);
AT(mortise_shape, field_count, 12);
AT(mortise_shape, fields, 16);

SIZE(mortise_tool_meta, 96);
AT(mortise_tool_meta, size, 0);
AT(mortise_tool_meta, flags, 4);
AT(mortise_tool_meta, name, 8);
AT(mortise_tool_meta, description, 16);
AT(mortise_tool_meta, shape, 24);
AT(mortise_tool_meta, input_schema, 32);
AT(mortise_tool_meta, output_schema, 40);
AT(mortise_tool_meta, scopes, 48);
AT(mortise_tool_meta, title, 56);
AT(mortise_tool_meta, examples, 64);
AT(mortise_tool_meta, inside_reads, 72);
AT(mortise_tool_meta, inside_runs, 80);
AT(mortise_tool_meta, inside, 88);
AT(mortise_tool_meta, reserved, 92);

/* T9: name, description and schema are the meta's. */
SIZE(mortise_tool, 56);
AT(mortise_tool, size, 0);
AT(mortise_tool, reserved, 4);
AT(mortise_tool, meta, 8);
AT(mortise_tool, state, 16);
AT(mortise_tool, state_tag, 24);
AT(mortise_tool, run, 32);
AT(mortise_tool, prepare, 40);
AT(mortise_tool, options, 48);

SIZE(mortise_attachment, 48);
AT(mortise_attachment, size, 0);
AT(mortise_attachment, reserved, 4);
AT(mortise_attachment, mime_type, 8);
AT(mortise_attachment, name, 16);
AT(mortise_attachment, data, 24);
AT(mortise_attachment, length, 32);
AT(mortise_attachment, uri, 40);

SIZE(mortise_call_ops, 112);
AT(mortise_call_ops, size, 0);
AT(mortise_call_ops, reserved, 4);
AT(mortise_call_ops, reply, 8);
AT(mortise_call_ops, fail, 16);
AT(mortise_call_ops, attach, 24);
AT(mortise_call_ops, emit, 32);
AT(mortise_call_ops, progress, 40);
AT(mortise_call_ops, cancelled, 48);
AT(mortise_call_ops, on_cancel, 56);
AT(mortise_call_ops, cancel_fd, 64);
AT(mortise_call_ops, remaining_ms, 72);
AT(mortise_call_ops, context, 80);
AT(mortise_call_ops, alloc, 88);
AT(mortise_call_ops, finish, 96);
AT(mortise_call_ops, service, 104);

SIZE(mortise_call, 24);
AT(mortise_call, size, 0);
AT(mortise_call, reserved, 4);
AT(mortise_call, ops, 8);
AT(mortise_call, tool, 16);

SIZE(mortise_hook_ops, 104);
AT(mortise_hook_ops, size, 0);
AT(mortise_hook_ops, reserved, 4);
AT(mortise_hook_ops, reason, 8);
AT(mortise_hook_ops, context, 16);
AT(mortise_hook_ops, alloc, 24);
AT(mortise_hook_ops, item_count, 32);
AT(mortise_hook_ops, item, 40);
AT(mortise_hook_ops, set_item, 48);
AT(mortise_hook_ops, remove_item, 56);
AT(mortise_hook_ops, append, 64);
AT(mortise_hook_ops, set_arguments, 72);
AT(mortise_hook_ops, respond, 80);
AT(mortise_hook_ops, set_result, 88);
AT(mortise_hook_ops, tool_state, 96);

SIZE(mortise_hook, 16);
AT(mortise_hook, size, 0);
AT(mortise_hook, reserved, 4);
AT(mortise_hook, ops, 8);

SIZE(mortise_prompt_submit, 24);
AT(mortise_prompt_submit, size, 0);
AT(mortise_prompt_submit, reserved, 4);
AT(mortise_prompt_submit, item, 8);
AT(mortise_prompt_submit, item_length, 16);

SIZE(mortise_pre_llm_request, 24);
AT(mortise_pre_llm_request, size, 0);
AT(mortise_pre_llm_request, turn, 4);
AT(mortise_pre_llm_request, locked_prefix, 8);
AT(mortise_pre_llm_request, model, 16);

SIZE(mortise_pre_tool_call, 48);
AT(mortise_pre_tool_call, size, 0);
AT(mortise_pre_tool_call, turn, 4);
AT(mortise_pre_tool_call, index, 8);
AT(mortise_pre_tool_call, count, 12);
AT(mortise_pre_tool_call, call_id, 16);
AT(mortise_pre_tool_call, meta, 24);
AT(mortise_pre_tool_call, arguments, 32);
AT(mortise_pre_tool_call, arguments_length, 40);

SIZE(mortise_post_tool_call, 88);
AT(mortise_post_tool_call, size, 0);
AT(mortise_post_tool_call, turn, 4);
AT(mortise_post_tool_call, index, 8);
AT(mortise_post_tool_call, count, 12);
AT(mortise_post_tool_call, call_id, 16);
AT(mortise_post_tool_call, meta, 24);
AT(mortise_post_tool_call, arguments, 32);
AT(mortise_post_tool_call, arguments_length, 40);
AT(mortise_post_tool_call, result, 48);
AT(mortise_post_tool_call, result_length, 56);
AT(mortise_post_tool_call, is_error, 64);
AT(mortise_post_tool_call, reserved, 65);
AT(mortise_post_tool_call, error_code, 72);
AT(mortise_post_tool_call, duration_us, 80);

SIZE(mortise_turn_end, 8);
AT(mortise_turn_end, size, 0);
AT(mortise_turn_end, turn, 4);

SIZE(mortise_abort, 24);
AT(mortise_abort, size, 0);
AT(mortise_abort, reserved, 4);
AT(mortise_abort, reason, 8);
AT(mortise_abort, reason_length, 16);

SIZE(mortise_text_delta, 24);
AT(mortise_text_delta, size, 0);
AT(mortise_text_delta, index, 4);
AT(mortise_text_delta, text, 8);
AT(mortise_text_delta, length, 16);

SIZE(mortise_tool_call_delta, 24);
AT(mortise_tool_call_delta, size, 0);
AT(mortise_tool_call_delta, index, 4);
AT(mortise_tool_call_delta, json, 8);
AT(mortise_tool_call_delta, length, 16);

SIZE(mortise_stream_chunk, 32);
AT(mortise_stream_chunk, size, 0);
AT(mortise_stream_chunk, index, 4);
AT(mortise_stream_chunk, event, 8);
AT(mortise_stream_chunk, json, 16);
AT(mortise_stream_chunk, length, 24);

SIZE(mortise_stream_complete, 16);
AT(mortise_stream_complete, size, 0);
AT(mortise_stream_complete, turn, 4);
AT(mortise_stream_complete, event_count, 8);

SIZE(mortise_hooks, 104);
AT(mortise_hooks, size, 0);
AT(mortise_hooks, priority, 4);
AT(mortise_hooks, name, 8);
AT(mortise_hooks, state, 16);
AT(mortise_hooks, prompt_submit, 24);
AT(mortise_hooks, pre_llm_request, 32);
AT(mortise_hooks, pre_tool_call, 40);
AT(mortise_hooks, post_tool_call, 48);
AT(mortise_hooks, turn_end, 56);
AT(mortise_hooks, on_abort, 64);
AT(mortise_hooks, text_delta, 72);
AT(mortise_hooks, tool_call_delta, 80);
AT(mortise_hooks, stream_chunk, 88);
AT(mortise_hooks, stream_complete, 96);

SIZE(mortise_plugin, 64);
AT(mortise_plugin, size, 0);
AT(mortise_plugin, reserved, 4);
AT(mortise_plugin, name, 8);
AT(mortise_plugin, version, 16);
AT(mortise_plugin, tools, 24);
AT(mortise_plugin, tool_count, 32);
AT(mortise_plugin, hooks, 40);
AT(mortise_plugin, hook_count, 48);
AT(mortise_plugin, close, 56);

/* T26: all that a host gives a plugin; none of it registers anything. */
SIZE(mortise_host, 48);
AT(mortise_host, size, 0);
AT(mortise_host, abi_major, 4);
AT(mortise_host, abi_minor, 6);
AT(mortise_host, refuse, 8);
AT(mortise_host, log, 16);
AT(mortise_host, config, 24);
AT(mortise_host, service, 32);
AT(mortise_host, changed, 40);

SIZE(mortise_artifact, 48);
AT(mortise_artifact, version, 4);
AT(mortise_artifact, name, 8);
AT(mortise_artifact, mime_type, 16);
AT(mortise_artifact, saved_ms, 24);
AT(mortise_artifact, length, 32);
AT(mortise_artifact, data, 40);

SIZE(mortise_artifacts, 32);
AT(mortise_artifacts, save, 8);
AT(mortise_artifacts, load, 16);
AT(mortise_artifacts, list, 24);

SIZE(mortise_memory_entry, 48);
AT(mortise_memory_entry, id, 8);
AT(mortise_memory_entry, saved_ms, 16);
AT(mortise_memory_entry, text, 24);
AT(mortise_memory_entry, length, 32);
AT(mortise_memory_entry, score, 40);

SIZE(mortise_memory, 32);
AT(mortise_memory, add, 8);
AT(mortise_memory, search, 16);
AT(mortise_memory, forget, 24);

SIZE(mortise_state_service, 40);
AT(mortise_state_service, get, 8);
AT(mortise_state_service, set, 16);
AT(mortise_state_service, replace, 24);
AT(mortise_state_service, keys, 32);

SIZE(mortise_secrets, 16);
AT(mortise_secrets, get, 8);

SIZE(mortise_http_header, 16);
AT(mortise_http_header, name, 0);
AT(mortise_http_header, value, 8);

SIZE(mortise_http_request, 112);
AT(mortise_http_request, flags, 4);
AT(mortise_http_request, method, 8);
AT(mortise_http_request, url, 16);
AT(mortise_http_request, headers, 24);
AT(mortise_http_request, header_count, 32);
AT(mortise_http_request, body, 40);
AT(mortise_http_request, body_length, 48);
AT(mortise_http_request, timeout_ms, 56);
AT(mortise_http_request, max_bytes, 64);
AT(mortise_http_request, max_redirects, 72);
AT(mortise_http_request, received, 80);
AT(mortise_http_request, received_data, 88);
AT(mortise_http_request, answered, 96);
AT(mortise_http_request, stop_fd, 104);

SIZE(mortise_http_response, 72);
AT(mortise_http_response, status, 4);
AT(mortise_http_response, headers, 8);
AT(mortise_http_response, header_count, 16);
AT(mortise_http_response, content_type, 24);
AT(mortise_http_response, url, 32);
AT(mortise_http_response, body, 40);
AT(mortise_http_response, body_length, 48);
AT(mortise_http_response, problem, 56);
AT(mortise_http_response, memory, 64);

SIZE(mortise_http, 32);
AT(mortise_http, send, 8);
AT(mortise_http, fetch, 16);
AT(mortise_http, release, 24);

#endif

VALUE(MORTISE_OK, 0);
VALUE(MORTISE_PENDING, 1);
VALUE(MORTISE_FAILED, -1);
VALUE(MORTISE_CANCELLED, -2);
VALUE(MORTISE_UNSUPPORTED, -3);
VALUE(MORTISE_NO_MEMORY, -4);
VALUE(MORTISE_DENIED, -5);
VALUE(MORTISE_NOT_FOUND, -6);
VALUE(MORTISE_INVALID, -7);
VALUE(MORTISE_CONFLICT, -8);

VALUE(MORTISE_INTERNAL, 0);
VALUE(MORTISE_INVALID_INPUT, 1);
VALUE(MORTISE_UNAUTHORIZED, 2);
VALUE(MORTISE_FORBIDDEN, 3);
VALUE(MORTISE_MISSING, 4);
VALUE(MORTISE_RATE_LIMITED, 5);
VALUE(MORTISE_TIMEOUT, 6);
VALUE(MORTISE_UNAVAILABLE, 7);
VALUE(MORTISE_ABORTED, 8);
VALUE(MORTISE_NOT_SUPPORTED, 9);

VALUE(MORTISE_STRING, 1);
VALUE(MORTISE_INTEGER, 2);
VALUE(MORTISE_NUMBER, 3);
VALUE(MORTISE_BOOLEAN, 4);
VALUE(MORTISE_JSON, 5);
VALUE(MORTISE_OBJECT, 6);
VALUE(MORTISE_STRINGS, 7);
VALUE(MORTISE_INTEGERS, 8);
VALUE(MORTISE_NUMBERS, 9);
VALUE(MORTISE_BOOLEANS, 10);
VALUE(MORTISE_RECORDS, 11);

VALUE(MORTISE_REQUIRED, 1);
VALUE(MORTISE_HAS_MIN, 2);
VALUE(MORTISE_HAS_MAX, 4);

VALUE(MORTISE_READ_ONLY, 1);
VALUE(MORTISE_CONCURRENCY_SAFE, 2);
VALUE(MORTISE_LONG_RUNNING, 4);
VALUE(MORTISE_SERIAL, 8);
VALUE(MORTISE_SANDBOX_REQUIRED, 16);
VALUE(MORTISE_DESTRUCTIVE, 32);
VALUE(MORTISE_IDEMPOTENT, 64);
VALUE(MORTISE_MAY_BE_LEFT_OUT, 1);
VALUE(MORTISE_OPEN_WORLD, 128);
VALUE(MORTISE_INSIDE_PROCESSES, 1);
VALUE(MORTISE_INSIDE_LIBRARIES, 2);
VALUE(MORTISE_INSIDE_JIT, 4);

VALUE(MORTISE_TEXT_RESULT, 0);
VALUE(MORTISE_JSON_RESULT, 1);

VALUE(MORTISE_CONTINUE, 0);
VALUE(MORTISE_SKIP, 1);
VALUE(MORTISE_RESPOND, 2);
VALUE(MORTISE_ABORT, 3);
VALUE(MORTISE_PAUSE, 4);
VALUE(MORTISE_CONTINUE_WITH, 5);
VALUE(MORTISE_HOOK_FAILED, 6);

VALUE(MORTISE_LOG_ERROR, 0);
VALUE(MORTISE_LOG_WARNING, 1);
VALUE(MORTISE_LOG_NOTE, 2);
VALUE(MORTISE_LOG_DEBUG, 3);

VALUE(MORTISE_ABI_MAJOR, 1);
VALUE(MORTISE_MAGIC, 0x54524f4d);
