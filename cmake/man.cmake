# Manual pages, where the build can make them.
if(NOT SCDOC)
  message(STATUS "mortise(1) and mortise-plugin(7) are left out: scdoc is not installed")
endif()
if(NOT MORTISE_PYTHON)
  message(STATUS "the reference of the headers (section 3) is left out: python3 is not installed")
endif()

function(install_man page section component)
  add_custom_target(man_${page} ALL DEPENDS ${page})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
          COMPONENT ${component})
endfunction()

# mortise_man(NAME SECTION COMPONENT): man/NAME.SECTION.scd, made and installed.
function(mortise_man name section component)
  if(NOT SCDOC)
    return()
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/man/${name}.${section}.scd)
  add_custom_command(OUTPUT ${name}.${section}
    COMMAND sh -c "\"$1\" <\"$2\" >\"$3\"" make_man ${SCDOC} ${source} ${name}.${section}
    DEPENDS ${source} VERBATIM)
  install_man(${name}.${section} ${section} ${component})
endfunction()

# mortise_reference(HEADER COMPONENT): a page in section 3 that is made of HEADER's comments.
function(mortise_reference header component)
  if(NOT MORTISE_PYTHON)
    return()
  endif()
  string(REPLACE "/" "-" page ${header}.3)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/include/${header})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/reference.py)
  add_custom_command(OUTPUT ${page}
    COMMAND ${MORTISE_PYTHON} -B ${script} ${source} ${page}
    DEPENDS ${source} ${script} VERBATIM)
  install_man(${page} 3 ${component})
endfunction()
