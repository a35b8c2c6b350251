# One program per subject of host/config.  Copies of strings and jansson's memory come from
# malloc() as well, so that a test can make any allocation fail.
foreach(subject settings config_file grant key)
  mortise_test(unit_${subject}
    SOURCES config/test_${subject}.c config/sandbox.c config/failing_copies.c base/failing.c
    LINKS host_config)
  target_include_directories(unit_${subject} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base
                             ${CMAKE_CURRENT_SOURCE_DIR}/config)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup)
endforeach()
