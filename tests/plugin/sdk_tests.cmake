# The SDK without a host.
include_guard(GLOBAL)
foreach(subject declarations text)
  mortise_test(sdk_${subject} SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_${subject}.c LINKS mortise::sdk)
endforeach()
mortise_test(sdk_functions SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_functions.c LINKS mortise::sdk)
