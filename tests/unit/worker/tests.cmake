foreach(subject worker worker_hooks worker_journal worker_states)
  mortise_test(unit_${subject} SOURCES worker/test_${subject}.c worker/stage.c LINKS host_worker)
endforeach()
