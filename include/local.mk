include_HEADERS += include/drasync.h include/myrmics.h include/drasync.hpp
drasyncincludedir = $(includedir)/drasync
drasyncinclude_HEADERS = \
	include/drasync/ahead.h \
	include/drasync/allocator.hpp \
	include/drasync/arguments.hpp \
	include/drasync/base.h \
	include/drasync/carries.hpp \
	include/drasync/construct.hpp \
	include/drasync/error.hpp \
	include/drasync/give.h \
	include/drasync/give.hpp \
	include/drasync/guard.hpp \
	include/drasync/managed.h \
	include/drasync/names.hpp \
	include/drasync/ref.hpp \
	include/drasync/region.hpp \
	include/drasync/request.h \
	include/drasync/run.h \
	include/drasync/run.hpp \
	include/drasync/save.h \
	include/drasync/save.hpp \
	include/drasync/storable.hpp

# Of drasync.hpp, by a C++ compiler if there is one.
if CXX17
native_test_programs += \
	tests/programs/cxx_calls \
	tests/programs/cxx_containers \
	tests/programs/cxx_guards \
	tests/programs/cxx_refs \
	tests/programs/cxx_allocator \
	tests/programs/cxx_wrong
tests_programs_cxx_calls_SOURCES = tests/programs/cxx_calls.cc \
	tests/programs/cxx_check.hpp
tests_programs_cxx_containers_SOURCES = tests/programs/cxx_containers.cc
tests_programs_cxx_guards_SOURCES = tests/programs/cxx_guards.cc
tests_programs_cxx_refs_SOURCES = tests/programs/cxx_refs.cc \
	tests/programs/cxx_check.hpp
tests_programs_cxx_allocator_SOURCES = tests/programs/cxx_allocator.cc
tests_programs_cxx_wrong_SOURCES = tests/programs/cxx_wrong.cc
endif
TESTS += tests/bats/cxx.bats
long_tests += tests/bats/cxx_headers.bats
EXTRA_DIST += tests/bats/cxx.bats tests/bats/cxx_headers.bats
