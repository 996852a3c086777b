# Warnings, sanitizers, and what only benchmarks need.

AC_DEFUN([DRASYNC_WARNINGS], [
AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [stop at compiler warnings])])
WARN_CFLAGS="-Wall -Wextra -Wconversion -Wmissing-prototypes"
WARN_CXXFLAGS="-Wall -Wextra -Wconversion -pedantic"
AS_IF([test "x$enable_werror" = xyes],
      [WARN_CFLAGS="$WARN_CFLAGS -Werror"
       WARN_CXXFLAGS="$WARN_CXXFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
AC_SUBST([WARN_CXXFLAGS])
])

# The paper's way between nodes, which the benchmark paper_protocol compares
# with: no part of what users install.
AC_DEFUN([DRASYNC_WIRE_PAGED], [
AC_ARG_ENABLE([wire-paged],
    [AS_HELP_STRING([--enable-wire-paged],
        [for the benchmark paper_protocol: DRASYNC_WIRE=paged sends data
         between nodes as the paper does])])
AS_IF([test "x$enable_wire_paged" = xyes],
      [AC_DEFINE([WIRE_PAGED], [1], [DRASYNC_WIRE=paged is there])],
      [AC_DEFINE([WIRE_PAGED], [0])])
])

# The flags go into CFLAGS, where no target can forget them; libtool passes
# CFLAGS to the linker too.
AC_DEFUN([DRASYNC_SANITIZERS], [
drasync_sanitizers=
m4_foreach([san], [asan, ubsan, tsan], [
AC_ARG_ENABLE(san,
    [AS_HELP_STRING([--enable-]san,
        [build everything with ]m4_case(san, [asan], [AddressSanitizer],
            [ubsan], [UndefinedBehaviorSanitizer], [ThreadSanitizer]))])
AS_IF([test "x$enable_]san[" = xyes],
      [drasync_sanitizers="${drasync_sanitizers}]m4_case(san,
           [asan], [address], [ubsan], [undefined], [thread])[ "])
])
AS_CASE([$drasync_sanitizers],
        [*address*thread*],
        [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
SANITIZER_FLAGS=
for drasync_san in $drasync_sanitizers; do
    SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=$drasync_san"
    AS_IF([test $drasync_san = undefined],
          [SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize-recover=undefined"])
done
AS_IF([test -n "$drasync_sanitizers"],
      [CFLAGS="$CFLAGS$SANITIZER_FLAGS -fno-omit-frame-pointer"
       CXXFLAGS="$CXXFLAGS$SANITIZER_FLAGS -fno-omit-frame-pointer"
       AC_MSG_CHECKING([whether the sanitizers link])
       AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
           [AC_MSG_RESULT([yes])],
           [AC_MSG_RESULT([no])
            AC_MSG_ERROR([the compiler has no: $drasync_sanitizers])])])
AC_SUBST([DRASYNC_SANITIZERS], [$drasync_sanitizers])
AC_SUBST([SANITIZER_FLAGS])
])

# tests/step: the compiler instruments atomics and plain accesses, and we link
# our own functions in place of ThreadSanitizer's.  Not with other sanitizers.
AC_DEFUN([DRASYNC_STEP], [
AC_MSG_CHECKING([whether tests/step can be built])
drasync_step=no
drasync_saved_cflags=$CFLAGS
CFLAGS="$CFLAGS -fsanitize=thread"
AS_IF([test -z "$drasync_sanitizers"],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdatomic.h>]],
                                          [[static _Atomic int a; a++;]])],
                         [drasync_step=yes])])
CFLAGS=$drasync_saved_cflags
AC_MSG_RESULT([$drasync_step])
AM_CONDITIONAL([STEP], [test $drasync_step = yes])
])

# tests/fuzz: clang with libFuzzer, for make fuzz-smoke; nothing else needs it.
AC_DEFUN([DRASYNC_FUZZ], [
AC_ARG_ENABLE([fuzz],
    [AS_HELP_STRING([--enable-fuzz],
        [stop if make fuzz-smoke could not be built: it needs clang with
         libFuzzer (default: looked for)])])
AC_ARG_VAR([FUZZ_CC], [clang with libFuzzer, for make fuzz-smoke])
AS_IF([test "x$enable_fuzz" != xno], [AC_CHECK_PROGS([FUZZ_CC], [clang])])
AS_IF([test -n "$FUZZ_CC"], [
AC_MSG_CHECKING([whether $FUZZ_CC has libFuzzer])
AC_LANG_CONFTEST([AC_LANG_SOURCE([[#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{ (void)data; (void)bytes; return 0; }]])])
AS_IF([$FUZZ_CC -fsanitize=fuzzer,address,undefined conftest.c \
           -o conftest$EXEEXT >&AS_MESSAGE_LOG_FD 2>&1],
      [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])
                               FUZZ_CC=])
rm -f conftest.c conftest$EXEEXT
])
AS_IF([test "x$enable_fuzz$FUZZ_CC" = xyes],
      [AC_MSG_ERROR(m4_normalize([no clang with libFuzzer (Debian: apt-get
                                  install clang)]))])
])
