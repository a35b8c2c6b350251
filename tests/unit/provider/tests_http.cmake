# What stands between a request and a server: attempts and providers' tables.  What libcurl
# does is tested from outside (tests/provider).
foreach(subject image listener retry profile http_error http_host)
  mortise_test(unit_${subject} SOURCES provider/test_${subject}.c LINKS host_provider)
endforeach()
mortise_test(unit_profiles
  SOURCES provider/test_profiles.c base/failing.c LINKS host_provider)
target_link_options(unit_profiles PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)

# Files and commands of the user's; copies of strings come from malloc() as well.
mortise_test(unit_aws_credentials
  SOURCES provider/test_aws_credentials.c config/sandbox.c config/failing_copies.c base/failing.c
  LINKS host_provider)
target_link_options(unit_aws_credentials PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup)
