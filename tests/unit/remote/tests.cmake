mortise_test(unit_parcel SOURCES remote/test_parcel.c LINKS host_remote)
