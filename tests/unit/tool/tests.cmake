# One program per subject of host/tool; fake.c makes tools and hooks in the test process.
foreach(subject arguments cap output result call cancel progress strategy)
  mortise_test(unit_tool_${subject} SOURCES tool/test_${subject}.c tool/fake.c LINKS host_tool)
endforeach()
foreach(subject context dispatch flood hooks ends batches single)
  mortise_test(unit_tool_${subject} SOURCES tool/test_${subject}.c tool/fake.c tool/scene.c
               LINKS host_tool)
endforeach()
mortise_test(unit_tool_memory
             SOURCES tool/test_memory.c tool/fake.c tool/scene.c base/failing.c LINKS host_tool)
target_include_directories(unit_tool_memory PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../base)
target_link_options(unit_tool_memory PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)

# One result after the other is taken apart: nothing for ThreadSanitizer.
if(NOT MORTISE_SANITIZE STREQUAL "thread")
  mortise_test(unit_tool_parts
               SOURCES tool/test_parts.c tool/fake.c base/failing.c LINKS host_tool)
  target_include_directories(unit_tool_parts PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../base)
  target_link_options(unit_tool_parts PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endif()
