foreach(subject recording difference record_memory)
  mortise_test(unit_${subject} SOURCES record/test_${subject}.c base/failing.c LINKS host_record
               TIMEOUT 120)
  target_include_directories(unit_${subject} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base)
  target_compile_definitions(unit_${subject} PRIVATE
    RECORDINGS="${PROJECT_SOURCE_DIR}/tests/provider/recordings")
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
