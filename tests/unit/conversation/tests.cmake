foreach(subject item history)
  mortise_test(unit_${subject} SOURCES conversation/test_${subject}.c base/failing.c
               LINKS host_conversation)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()
