foreach(subject worker worker_fit worker_hooks worker_journal worker_reload worker_states)
  mortise_test(unit_${subject} SOURCES worker/test_${subject}.c worker/stage.c LINKS host_worker)
endforeach()
mortise_test(unit_worker_prefix
  SOURCES worker/test_worker_prefix.c worker/stage.c ${PROJECT_SOURCE_DIR}/tests/support/loopback.c
  LINKS host_worker)
