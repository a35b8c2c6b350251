foreach(subject http_body http_check http_head http_metadata)
  mortise_test(unit_${subject} SOURCES mcp/test_${subject}.c LINKS host_mcp)
endforeach()
foreach(subject content line message)
  mortise_test(unit_mcp_${subject} SOURCES mcp/test_${subject}.c LINKS host_mcp)
endforeach()
mortise_test(unit_mcp_server SOURCES mcp/test_server.c mcp/fake_server.c tool/fake.c base/failing.c
             LINKS host_mcp)
target_link_options(unit_mcp_server PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=plugin_set_registry)
