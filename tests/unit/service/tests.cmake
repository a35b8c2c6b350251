# One program per subject of host/service; inside.c makes a tool in whose call a test runs.
foreach(subject artifacts memory state)
  mortise_test(unit_${subject} SOURCES service/test_${subject}.c service/inside.c LINKS host_service)
endforeach()
