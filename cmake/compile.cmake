# How everything here is compiled.
add_library(strict INTERFACE)
target_compile_options(strict INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef
  $<$<BOOL:${MORTISE_WERROR}>:-Werror>)
target_compile_definitions(strict INTERFACE _GNU_SOURCE)

add_compile_options(-fno-common -fstack-protector-strong)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT MORTISE_SANITIZE)
  add_compile_definitions(_FORTIFY_SOURCE=2)
endif()
if(MORTISE_SANITIZE)
  # Reports need lines, but no variables.  Programs lie where they were linked: each of the
  # thousands that the tests start would relocate 7 MB first.
  add_compile_options(-fsanitize=${MORTISE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${MORTISE_SANITIZE}
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  if(MORTISE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
