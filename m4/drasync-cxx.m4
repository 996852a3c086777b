# The C++ compiler, for drasync.hpp's tests, examples and benchmarks alone: no
# library of ours is written in C++, and without one the rest is built.

# DRASYNC_FIND_CXX
# ----------------
# Set CXX to the compiler that MPICXX calls unless the user chose one.
AC_DEFUN([DRASYNC_FIND_CXX], [
AC_BEFORE([$0], [AC_PROG_CXX])
AS_IF([test -z "$CXX"],
      [drasync_compile=`"$MPICXX" -compile-info 2>/dev/null` || drasync_compile=
       for drasync_word in $drasync_compile; do
           AS_CASE([$drasync_word], [-*], [break])
           CXX="$CXX $drasync_word"
       done
       CXX=`echo $CXX`
       test -n "$CXX" || AS_UNSET([CXX])])
])

# DRASYNC_CXX
# -----------
# Does CXX compile C++17?  After AC_PROG_CXX, which no macro of ours may expand:
# Autoconf warns of what the compilation below requires if it was.
AC_DEFUN([DRASYNC_CXX], [
AC_LANG_PUSH([C++])
drasync_save_CXXFLAGS=$CXXFLAGS
CXXFLAGS="$CXXFLAGS -std=c++17"
AC_MSG_CHECKING([whether $CXX compiles C++17])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <map>
#include <memory_resource>
#include <optional>
#if __cplusplus < 201703L
#error "C++17 is needed"
#endif
]], [[
std::map<int, std::optional<int>> m;
for (auto &[key, value] : m)
    if constexpr (sizeof(key) > 1)
        value = key;
]])],
    [drasync_cxx17=yes
     AC_DEFINE([HAVE_CXX17], [1], [a compiler for drasync.hpp is there])],
    [drasync_cxx17=no])
AC_MSG_RESULT([$drasync_cxx17])
CXXFLAGS=$drasync_save_CXXFLAGS
AS_IF([test $drasync_cxx17 = yes],
      [AC_CHECK_HEADERS([cereal/cereal.hpp])])
AC_LANG_POP([C++])
AM_CONDITIONAL([CXX17], [test $drasync_cxx17 = yes])
])
