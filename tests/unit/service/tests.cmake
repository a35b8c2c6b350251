# One program per subject of host/service; inside.c makes a tool in whose call a test runs.
foreach(subject artifacts memory public_address services state)
  mortise_test(unit_${subject} SOURCES service/test_${subject}.c service/inside.c LINKS host_service)
endforeach()
target_link_options(unit_public_address PRIVATE -Wl,--wrap=getifaddrs -Wl,--wrap=freeifaddrs)
foreach(subject http http_outside)
  mortise_test(unit_${subject}
    SOURCES service/test_${subject}.c service/inside.c service/web.c LINKS host_service)
endforeach()
mortise_test(unit_services_no_memory
  SOURCES service/test_no_memory.c service/inside.c service/web.c base/failing.c LINKS host_service)
target_include_directories(unit_services_no_memory PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base)
target_link_options(unit_services_no_memory PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
