foreach(subject event timeline collect subscriber)
  mortise_test(unit_${subject} SOURCES timeline/test_${subject}.c base/failing.c
               LINKS host_timeline)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
