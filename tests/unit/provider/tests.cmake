include(provider/tests_stream.cmake)
include(provider/tests_http.cmake)

# The wire formats.  Recorded responses are shared with the tests that run against a server.
set(formats openai_chat openai_responses anthropic gemini)
list(TRANSFORM formats APPEND _write OUTPUT_VARIABLE writers)
foreach(subject sse wire_error ${formats} ${writers} bedrock prefix schema_reduce schema_top wire_id
        wire_parts event_stream aws_sign)
  mortise_test(unit_${subject}
    SOURCES provider/test_${subject}.c provider/wire_test.c provider/frame.c base/failing.c
    LINKS host_provider)
  target_compile_definitions(unit_${subject} PRIVATE
    FIXTURES="${PROJECT_SOURCE_DIR}/tests/provider/fixtures")
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
foreach(format ${formats})
  target_sources(unit_${format} PRIVATE provider/reader_test.c)
  target_sources(unit_${format}_write PRIVATE provider/writer_test.c)
endforeach()
