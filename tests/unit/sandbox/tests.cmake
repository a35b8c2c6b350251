# scene.c is what stands outside of the sandbox, attempts_*.c what code inside tries.
function(sandbox_test subject)
  mortise_test(unit_sandbox_${subject} SOURCES sandbox/test_${subject}.c sandbox/scene.c ${ARGN}
               LINKS host_sandbox)
endfunction()

sandbox_test(attempts sandbox/attempts_calls.c sandbox/attempts_files.c
             sandbox/attempts_limits.c sandbox/attempts_system.c)
# Some of them wait for a limit of time: on a busy machine, for long.
set_tests_properties(unit_sandbox_attempts PROPERTIES TIMEOUT 180)
sandbox_test(filter)
sandbox_test(layers)
sandbox_test(watch)
