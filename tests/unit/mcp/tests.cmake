foreach(subject http_body http_check http_head http_metadata)
  mortise_test(unit_${subject} SOURCES mcp/test_${subject}.c LINKS host_mcp)
endforeach()
