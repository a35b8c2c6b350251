foreach(subject stream script offline)
  mortise_test(unit_${subject} SOURCES provider/test_${subject}.c base/failing.c
               LINKS host_provider)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
