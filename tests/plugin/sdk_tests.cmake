# The SDK without a host.  failing.c stands between it and malloc().
include_guard(GLOBAL)
foreach(subject bridge declarations json tasks_memory text)
  mortise_test(sdk_${subject} LINKS mortise::sdk
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_${subject}.c
            ${CMAKE_CURRENT_LIST_DIR}/../unit/base/failing.c)
  target_link_options(sdk_${subject} PRIVATE
    LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc)
endforeach()
mortise_test(sdk_functions SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_functions.c LINKS mortise::sdk)

# Tests of the test library, and tests that use it.
foreach(subject calls confined hooks services)
  mortise_test(sdk_test_${subject} SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_test_${subject}.c
                                   LINKS mortise::test)
endforeach()
mortise_test(sdk_tasks SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_tasks.c LINKS mortise::test)
