# One program per subject of host/base.  failing.c stands between them and malloc(), so that
# a test can make any allocation of the folder fail.
function(base_test subject)
  mortise_test(unit_${subject} SOURCES base/test_${subject}.c base/failing.c LINKS host_base)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endfunction()

foreach(subject arena array base64 cancel clock error file hash hex id json json_check json_read json_walk library log pool queue secret text utf8)
  base_test(${subject})
endforeach()
target_compile_definitions(unit_json_read PRIVATE JSON_FILES="${PROJECT_SOURCE_DIR}/tests")
target_sources(unit_json_read PRIVATE base/json_twice.c)
