foreach(subject item item_view history repair)
  mortise_test(unit_${subject} SOURCES conversation/test_${subject}.c base/failing.c
               LINKS host_conversation)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()

mortise_test(unit_store SOURCES conversation/test_store.c conversation/store_fixture.c base/failing.c
             LINKS host_conversation)
target_link_options(unit_store PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
mortise_test(unit_store_faults SOURCES conversation/test_store_faults.c conversation/store_fixture.c
             LINKS host_conversation)
