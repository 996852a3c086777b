# The headers of the DART interface, as programs include them.

load common

headers=$abs_top_srcdir/include/dash/dart/if

setup() {
  cd "$BATS_TEST_TMPDIR"
  strict=(-Wall -Wextra -Wconversion -Werror -fsyntax-only
    "-I$abs_top_srcdir/include")
}

# alone COMPILER... : what it says of each header by itself, twice included.
# dart_io.h is for those who have included HDF5's header.
alone() {
  local header name
  for header in "$headers"/*.h; do
    name=dash/dart/if/${header##*/}
    {
      [ "${name##*/}" != dart_io.h ] ||
        printf '#include <stdint.h>\ntypedef int64_t hid_t;\n'
      printf '#include <%s>\n#include <%s>\nextern int here;\n' "$name" "$name"
    } | "$@" "${strict[@]}" - || echo "$name: $*"
  done
}

@test "each header of DART compiles alone in C, without a warning" {
  for standard in c99 c11 gnu11; do
    run -0 alone "${CC:-cc}" "-std=$standard" -Wstrict-prototypes -xc
    assert_output ""
  done
}

@test "each header of DART compiles alone in C++11 and later, without a warning" {
  for standard in c++11 gnu++14 c++17; do
    run -0 alone "$MPICXX" "-std=$standard" -xc++
    assert_output ""
  done
}

@test "null pointers, units and types of DART are constants in C++" {
  cat >constants.cc <<'END'
#include <dash/dart/if/dart.h>
#include <type_traits>
constexpr dart_gptr_t null = DART_GPTR_NULL;
static_assert(null.unitid == -1 && null.teamid == DART_TEAM_NULL, "null");
static_assert(std::is_trivially_copyable<dart_gptr_t>::value, "gptr");
static_assert(std::is_trivially_copyable<dart_team_unit_t>::value, "unit");
static_assert(dart_global_unit_t(3).id == 3, "unit");
static_assert(dart_team_unit_t().id == DART_UNDEFINED_UNIT_ID, "unit");
using sum = std::integral_constant<dart_operation_t, DART_OP_SUM>;
using byte = std::integral_constant<dart_datatype_t, DART_TYPE_BYTE>;
static_assert(sum::value == 4 && byte::value == 1, "numbers");
END
  run -0 "$MPICXX" -std=c++11 "${strict[@]}" constants.cc
  assert_output ""
}

@test "a global pointer is moved by bytes, and to another unit, none among them" {
  cat >move.c <<'END'
#include <assert.h>
#include <dash/dart/if/dart_globmem.h>
int main(void)
{
    dart_gptr_t gptr = DART_GPTR_NULL;
    assert(DART_GPTR_ISNULL(gptr));
    gptr.teamid = 3;
    dart_gptr_setunit(&gptr, DART_TEAM_UNIT_ID(0x7ffffe));
    assert(gptr.unitid == 0x7ffffe && gptr.flags == 0 && gptr.teamid == 3);
    dart_gptr_incaddr(&gptr, INT64_C(1) << 40);
    dart_gptr_incaddr(&gptr, -16);
    assert(gptr.addr_or_offs.offset == (UINT64_C(1) << 40) - 16);
    dart_gptr_setunit(&gptr, DART_UNDEFINED_TEAM_UNIT_ID);
    assert(gptr.unitid == DART_UNDEFINED_UNIT_ID);
    return 0;
}
END
  "${CC:-cc}" "-I$abs_top_srcdir/include" move.c -o move
  run -0 ./move
}

# Functions that the headers declare without defining them.
declared() {
  local header
  for header in "$headers"/*.h; do
    printf '#include <dash/dart/if/%s>\n' "${header##*/}"
  done | sed '1i #include <stdint.h>\ntypedef int64_t hid_t;' >all.c
  # A result from ccache comes without that file.
  CCACHE_DISABLE=1 "${CC:-cc}" "-I$abs_top_srcdir/include" -aux-info all.txt -fsyntax-only all.c
  sed -n 's,^/\* .*/dash/dart/if/[^ ]* \*/ extern .*[ *]\(dart_[a-z_0-9]*\) (.*,\1,p' all.txt |
    sort -u
}

exported() {
  nm -D --defined-only "$libs/libdart-mpi.so" | awk '$3 ~ /^dart_/ { print $3 }' |
    sort -u
}

@test "the library exports the functions that DART's headers declare, and no others" {
  declared >declared.txt
  exported >exported.txt
  assert [ "$(wc -l <declared.txt)" -gt 80 ]
  run -0 diff declared.txt exported.txt
}
