include(provider/tests_stream.cmake)
include(provider/tests_http.cmake)

# The wire formats.  Recorded responses are shared with the tests that run against a server.
foreach(subject sse wire_error openai_chat openai_chat_write openai_responses
        openai_responses_write anthropic anthropic_write bedrock gemini gemini_write prefix
        schema_reduce schema_top wire_id wire_parts event_stream aws_sign)
  mortise_test(unit_${subject}
    SOURCES provider/test_${subject}.c provider/wire_test.c provider/frame.c base/failing.c
    LINKS host_provider)
  target_compile_definitions(unit_${subject} PRIVATE
    FIXTURES="${PROJECT_SOURCE_DIR}/tests/provider/fixtures")
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
