# What stands between a request and a server: attempts and providers' tables.  What libcurl
# does is tested from outside (tests/provider).
foreach(subject image listener overflow retry profile http_error http_failure http_network)
  mortise_test(unit_${subject} SOURCES provider/test_${subject}.c LINKS host_provider)
endforeach()
foreach(subject profiles http_host)
  mortise_test(unit_${subject}
    SOURCES provider/test_${subject}.c base/failing.c LINKS host_provider)
  target_link_options(unit_${subject} PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endforeach()

# Files and commands of the user's; copies of strings come from malloc() as well.
mortise_test(unit_aws_credentials
  SOURCES provider/test_aws_credentials.c config/sandbox.c config/failing_copies.c base/failing.c
  LINKS host_provider)
target_link_options(unit_aws_credentials PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup)
