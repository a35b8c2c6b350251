# failing.c stands between the code under test and malloc().
function(plugin_test subject)
  mortise_test(unit_${subject} SOURCES plugin/test_${subject}.c base/failing.c LINKS host_plugin)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endfunction()

foreach(subject account bell gate granted hooks hook_edits host_api meta pins raw_schema registry scan)
  plugin_test(${subject})
endforeach()
foreach(subject hooks hook_edits)
  target_sources(unit_${subject} PRIVATE plugin/hooks_scene.c)
endforeach()

# One thread after the other reads a file: nothing for ThreadSanitizer.
if(MORTISE_SANITIZE STREQUAL "thread")
  return()
endif()
plugin_test(elf)

# What test_elf reads, whole and damaged.
add_library(unit_elf_sample MODULE plugin/elf_sample.c)
set_target_properties(unit_elf_sample PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/plugin)
target_link_libraries(unit_elf_sample PRIVATE plugin_interface strict)
target_compile_definitions(unit_elf PRIVATE SAMPLE="$<TARGET_FILE:unit_elf_sample>")
add_dependencies(unit_elf unit_elf_sample)
