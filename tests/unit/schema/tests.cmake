# One program per subject of host/schema.
function(schema_test subject)
  mortise_test(unit_schema_${subject} SOURCES schema/test_${subject}.c base/failing.c LINKS host_schema
               TIMEOUT 180)
  target_include_directories(unit_schema_${subject} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base)
  target_link_options(unit_schema_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endfunction()

foreach(subject decode pattern schema schema_errors schema_limits shape)
  schema_test(${subject})
endforeach()
