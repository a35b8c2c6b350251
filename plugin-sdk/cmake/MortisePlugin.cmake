# mortise_add_plugin(NAME SOURCES... [LINKS LIBRARIES...] [OUTPUT DIRECTORY] [NO_INSTALL])
#
# Builds NAME.so, a plugin that exports nothing but its two symbols and has every other symbol
# resolved, and installs it to lib/mortise/plugins.  LINKS are libraries that it needs beside
# the SDK; OUTPUT is where the build puts it.
#
# mortise_add_plugin_test(NAME SOURCES... [LINKS LIBRARIES...])
#
# Builds the program test_NAME with the library of mortise/test.h, and runs it as the test
# plugin_NAME.  Its sources are the test, which includes the plugin's, and what else the plugin
# consists of.
include(GNUInstallDirs)
include(CheckLinkerFlag)

function(mortise_add_plugin name)
  cmake_parse_arguments(arg "NO_INSTALL" "OUTPUT" "LINKS" ${ARGN})
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE mortise::sdk ${arg_LINKS})
  set_target_properties(${name} PROPERTIES PREFIX ""
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(C IN_LIST languages)
    set(language C)
  else()
    set(language CXX)
  endif()

  # Messages about MORTISE_TOOL point at the author's line, and what is surely a mistake stops.
  target_compile_options(${name} PRIVATE
    $<$<C_COMPILER_ID:GNU>:-ftrack-macro-expansion=0>
    -Werror=format -Werror=return-type
    "$<$<COMPILE_LANGUAGE:C>:-Werror=implicit-function-declaration;-Werror=int-conversion>"
    $<$<COMPILE_LANGUAGE:C>:-Werror=incompatible-pointer-types>
    $<$<C_COMPILER_ID:Clang,AppleClang>:-Werror=undefined-internal>)

  # Hide what comes from static libraries, leave out what is not used, bind everything at load.
  # Few segments: dlopen maps each of them, and two load in 0.7 of the time of four.
  target_link_options(${name} PRIVATE
    LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--hash-style=gnu LINKER:-O1
    LINKER:--gc-sections LINKER:-z,now)
  check_linker_flag(${language} "LINKER:-z,noseparate-code" MORTISE_LINKER_HAS_NOSEPARATE_CODE)
  if(MORTISE_LINKER_HAS_NOSEPARATE_CODE)
    target_link_options(${name} PRIVATE LINKER:-z,noseparate-code)
  endif()
  # A missing function, or a forgotten MORTISE_PLUGIN(), is an error now and not at loading.
  # (The sanitizers leave symbols open that the program brings.)
  if(NOT MORTISE_SANITIZE AND NOT "${CMAKE_C_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  check_linker_flag(${language} "LINKER:--require-defined=main" MORTISE_LINKER_HAS_REQUIRE_DEFINED)
  if(MORTISE_LINKER_HAS_REQUIRE_DEFINED)
    target_link_options(${name} PRIVATE
      LINKER:--require-defined=tool_definition LINKER:--require-defined=mortise_plugin_stamp)
  endif()

  # In the build of mortise itself: its warnings, and the folder where its host looks.
  get_property(links GLOBAL PROPERTY MORTISE_PLUGIN_LINKS)
  get_property(output GLOBAL PROPERTY MORTISE_PLUGIN_OUTPUT)
  target_link_libraries(${name} PRIVATE ${links})
  if(arg_OUTPUT)
    set(output ${arg_OUTPUT})
  endif()
  if(output)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${output})
  endif()

  if(NOT arg_NO_INSTALL)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/mortise/plugins)
  endif()
endfunction()

function(mortise_add_plugin_test name)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  if(DEFINED MORTISE_TESTS AND NOT MORTISE_TESTS)
    return()
  endif()
  get_property(links GLOBAL PROPERTY MORTISE_PLUGIN_LINKS)
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(test_${name} PRIVATE mortise::test ${arg_LINKS} ${links})
  add_test(NAME plugin_${name} COMMAND test_${name})
  set_tests_properties(plugin_${name} PROPERTIES TIMEOUT 60)
endfunction()
