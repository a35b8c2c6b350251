# The SDK without a host.
include_guard(GLOBAL)
foreach(subject declarations text)
  mortise_test(sdk_${subject} SOURCES ${CMAKE_CURRENT_LIST_DIR}/sdk_${subject}.c LINKS mortise::sdk)
endforeach()
