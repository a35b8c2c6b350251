mortise_test(unit_worker SOURCES worker/test_worker.c worker/stage.c LINKS host_worker)
mortise_test(unit_worker_hooks SOURCES worker/test_worker_hooks.c worker/stage.c LINKS host_worker)
