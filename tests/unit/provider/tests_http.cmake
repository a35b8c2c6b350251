# What stands between a request and a server: attempts and providers' tables.  What libcurl
# does is tested from outside (tests/provider).
foreach(subject image overflow retry profile http_error http_host)
  mortise_test(unit_${subject} SOURCES provider/test_${subject}.c LINKS host_provider)
endforeach()
