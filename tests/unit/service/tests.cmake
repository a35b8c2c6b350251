mortise_test(unit_artifacts SOURCES service/test_artifacts.c LINKS host_service)
