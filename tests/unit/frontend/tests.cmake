# One program per subject of host/frontend.
foreach(subject lines output print progress jsonl markdown)
  mortise_test(unit_${subject}
    SOURCES frontend/test_${subject}.c frontend/capture.c base/failing.c LINKS host_frontend)
  target_include_directories(unit_${subject} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/base
                             ${CMAKE_CURRENT_SOURCE_DIR}/frontend)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
