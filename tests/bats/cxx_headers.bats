#!/usr/bin/env bats
# What the compiler says of drasync.h and drasync.hpp in C++ programs.

load common

setup_file() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" || return 0
  options
  # For GCC, which reads drasync.hpp once then, and not for each statement that
  # it refuses; Clang takes no notice of it.
  mkdir "$BATS_FILE_TMPDIR/read"
  cd "$BATS_FILE_TMPDIR/read"
  echo '#include <drasync.hpp>' >all.hpp
  # shellcheck disable=SC2086
  ${compilers[0]} -std=c++17 "${refusing[@]}" -x c++-header all.hpp \
    -o drasync.hpp.gch
}

setup() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  cd "$BATS_TEST_TMPDIR"
  options
}

options() {
  compilers=("${CXX:-c++}")
  ! command -v clang++ >/dev/null || compilers+=(clang++)
  strict=(-Wall -Wextra -pedantic -Wconversion -Wshadow -Werror -fsyntax-only
    "-I$abs_top_srcdir/include")
  # No warnings: GCC has forgotten which ones the header does without.
  refusing=(-w "-I$BATS_FILE_TMPDIR/read" "-I$abs_top_srcdir/include")
}

# each_alone STANDARD HEADER...: what compilers say of each header by itself,
# twice included.
each_alone() {
  local standard=$1 header compiler
  shift
  for header in "$@"; do
    printf '#include <%s>\n#include <%s>\nextern int here;\n' "$header" \
      "$header" >alone.cc
    for compiler in "${compilers[@]}"; do
      # shellcheck disable=SC2086
      $compiler "-std=$standard" "${strict[@]}" alone.cc ||
        echo "$header: $compiler"
    done
  done
}

@test "drasync.h and each of its parts compile alone in C++, without a warning" {
  local header parts=(drasync.h)
  for header in "$abs_top_srcdir"/include/drasync/*.h; do
    parts+=("drasync/${header##*/}")
  done
  assert [ "${#parts[@]}" -gt 5 ]
  for standard in c++11 c++17 gnu++20; do
    run -0 each_alone "$standard" "${parts[@]}"
    assert_output ""
  done
}

@test "drasync.hpp and each of its parts compile alone, without a warning" {
  local header parts=(drasync.hpp)
  for header in "$abs_top_srcdir"/include/drasync/*.hpp; do
    parts+=("drasync/${header##*/}")
  done
  assert [ "${#parts[@]}" -gt 5 ]
  run -0 each_alone c++17 "${parts[@]}"
  assert_output ""
  run -0 each_alone c++20 drasync.hpp
  assert_output ""
}

# What the two lists below are about.
types() {
  cat <<'END'
#include <drasync.hpp>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <queue>
#include <random>
#include <regex>
#include <scoped_allocator>
#include <set>
#include <string>

struct plain { int a; double b[3]; char name[40]; plain *next; };
struct bits { unsigned a : 3, b : 4; };
struct empty {};
struct base { int a; };
struct derived : base { int b; empty e; };
struct constants { const int x; const std::string *p; };
struct atomics { std::atomic<int> a; std::byte b; };
struct aligned { alignas(64) int x; };
struct greedy { template <class U> greedy(U &&); };
struct has_greedy { int x; greedy g; };
struct converts { converts(const std::string &); int v; };
struct has_converts { converts c; };
struct parts {
    std::optional<int> i;
    std::variant<int, double> v;
    std::array<int, 4> a;
    std::string_view s;
};
union either { int a; float b; };
struct has_either { either e; };
struct in_region { int n; drasync::string s; drasync::vector<drasync::string> v; };
struct tree { drasync::vector<tree> below; drasync::map<int, tree> named; };
struct frees { void operator()(int *) const {} };
template <class T> using scoped = std::scoped_allocator_adaptor<drasync::allocator<T>>;

struct has_string { int a; std::string s; };
struct deep { int a[3]; struct { plain p; has_string s; } in; };
struct many { char c[50]; std::string s; };
struct strings { std::string s[2]; };
struct reference { int a; int &r; };
struct const_reference { const int &r; };
struct callback { void (*f)(int); };
struct virtuals { virtual ~virtuals(); };
struct has_virtuals { int x; virtuals v; };
struct base_string { std::string s; };
struct derived_string : base_string { int x; };
struct owns { std::unique_ptr<int> p; };
struct locks { std::atomic<int> a; std::mutex m; };
struct stateless : std::allocator<int> {
    template <class U> struct rebind { using other = stateless; };
};
struct mine { mine(int); int file; };
template <> struct drasync::storable<mine> : std::false_type {};
struct has_mine { mine m; };
struct wrapped { virtual ~wrapped(); };
template <> struct drasync::storable<wrapped> : std::true_type {};

#define YES(...) static_assert(drasync::storable_v<__VA_ARGS__>);
#define NO(...) static_assert(!drasync::storable_v<__VA_ARGS__>);
END
}

# Types that can be in regions, and those that mean something on one rank only.
can_be_stored() {
  cat <<'END'
YES(int) YES(const double) YES(int *) YES(void *) YES(int[3]) YES(int plain::*)
YES(plain) YES(bits) YES(empty) YES(derived) YES(constants) YES(atomics)
YES(aligned) YES(has_greedy) YES(has_converts) YES(parts) YES(has_either)
YES(in_region) YES(tree) YES(wrapped)
YES(std::pair<const drasync::string, int>) YES(std::tuple<int, plain>)
YES(std::chrono::nanoseconds) YES(std::complex<double>) YES(std::mt19937)
YES(std::bitset<9>) YES(std::unique_ptr<int, frees>)
YES(drasync::string) YES(drasync::map<drasync::string, drasync::vector<int>>)
YES(drasync::unordered_map<int, drasync::string>)
YES(std::deque<int, drasync::allocator<int>>)
YES(std::queue<int, std::deque<int, drasync::allocator<int>>>)
YES(std::vector<int, scoped<int>>)
YES(drasync::weak_ref)
END
}

can_not() {
  cat <<'END'
NO(void) NO(int &) NO(void (*)()) NO(void (plain::*)()) NO(std::string[2])
NO(has_string) NO(deep) NO(many) NO(strings) NO(reference)
NO(const_reference) NO(callback) NO(virtuals) NO(has_virtuals)
NO(derived_string) NO(owns) NO(locks) NO(mine) NO(has_mine)
NO(std::pair<const std::string, int>) NO(std::tuple<int, std::string>)
NO(std::optional<std::string>) NO(std::variant<int, std::string>)
NO(std::array<std::string, 2>) NO(std::pair<int &, int>)
NO(std::string) NO(std::vector<int>) NO(std::map<int, int>)
NO(std::unordered_map<int, int>) NO(std::queue<int>)
NO(std::pmr::vector<int>) NO(std::pmr::string) NO(std::vector<int, stateless>)
NO(std::set<int, std::function<bool(int, int)>, drasync::allocator<int>>)
NO(drasync::map<int, int, bool (*)(int, int)>)
NO(std::unique_ptr<int>) NO(std::shared_ptr<int>) NO(std::weak_ptr<int>)
NO(std::function<void()>) NO(std::any) NO(std::thread) NO(std::mutex)
NO(std::shared_mutex) NO(std::condition_variable) NO(std::future<int>)
NO(std::promise<int>) NO(std::filesystem::path) NO(std::regex)
NO(std::locale) NO(std::error_code) NO(std::initializer_list<int>)
NO(std::reference_wrapper<void()>) NO(drasync::write_guard)
NO(drasync::region_resource) NO(drasync::unique_region) NO(drasync::region_ref)
END
}

@test "storable<T> is true for what can be in regions, false for what is one rank's only" {
  { types && can_be_stored && can_not; } >types.cc
  for compiler in "${compilers[@]}"; do
    # shellcheck disable=SC2086
    run -0 $compiler -std=c++17 "${strict[@]}" -Wno-unused types.cc
    assert_output ""
  done
}

# refused MESSAGE STATEMENTS: a program with these, and $declarations before, does
# not compile, and the compiler says why.
refused() {
  local message=$1
  shift
  cat >refused.cc <<END
#include <drasync.hpp>
#include <mutex>
struct virtuals { int x; virtual ~virtuals() {} };
struct callback { void (*f)(int); };
struct has_string { int a; std::string s; };
struct half {
    using allocator_type = drasync::allocator<char>;
    drasync::string s;
    explicit half(allocator_type a) : s(a) {}
};
struct plain { int a; drasync::string s; };
${declarations:-}
void f(drasync::write_guard &hold);
void f(drasync::write_guard &hold)
{
    $*
}
END
  # shellcheck disable=SC2086
  run ${compilers[0]} -std=c++17 "${refusing[@]}" -fsyntax-only refused.cc
  assert_failure
  assert_output --partial "$message"
}

@test "what cannot live in a region does not compile, and the compiler says why" {
  refused "drasync: a type with virtual functions cannot live in a region" \
    'drasync::new_object<virtuals>(hold);'
  refused "drasync: a type with virtual functions cannot live in a region" \
    'drasync::vector<virtuals> v(hold); v.emplace_back();'
  refused "drasync: a pointer to a function cannot live in a region" \
    'drasync::vector<void (*)()> v(3, hold);'
  refused "drasync: this container or string keeps its elements on the heap" \
    'drasync::make_root<std::string>(hold, "a");'
  refused "drasync: this container or string keeps its elements on the heap" \
    'drasync::map<int, std::vector<int>> m(hold); m[1];'
  refused "drasync: this container or string keeps its elements on the heap" \
    'drasync::unordered_map<std::string, int> m(hold); m["a"] = 1;'
  refused "drasync: this type, or a part or member of it, cannot live" \
    'drasync::new_object<has_string>(hold);'
  refused "drasync: this type, or a part or member of it, cannot live" \
    'drasync::new_object<callback>(hold);'
  refused "drasync: this type, or a part or member of it, cannot live" \
    'drasync::new_object<std::mutex>(hold);'
  refused "drasync: this type, or a part or member of it, cannot live" \
    'drasync::vector<std::function<void()>> v(hold); v.emplace_back();'
  refused "drasync: this type, or a part or member of it, cannot live" \
    'drasync::map<int, std::unique_ptr<int>> m(hold); m[1];'
}

@test "a struct whose copies would leave its strings in another region does not compile" {
  refused "drasync: a type with an allocator_type needs" \
    'drasync::vector<half> v(hold), w(hold); v.emplace_back(); w = v;'
  refused "drasync: a type with an allocator_type needs" \
    'drasync::vector<half> v(hold); v.emplace_back(); v.push_back(v[0]);'
  for inside in plain 'std::optional<drasync::string>' 'plain[2]' \
    'std::array<drasync::vector<int>, 2>' 'std::variant<int, plain>'; do
    refused "does not say where these are to be" \
      "using inside = $inside; drasync::vector<inside> v(hold), w(hold); w = v;"
  done
}

@test "an allocator of no region, a write through a reader's root do not compile" {
  refused "" 'drasync::vector<int> v;'
  refused "" 'drasync::string s("abc");'
  refused "deleted" 'drasync::vector<int> v(nullptr);'
  refused "" 'drasync::read_guard r(hold.region()); drasync::vector<int> v(r);'
  refused "const" 'drasync::read_guard r(hold.region());
    drasync::root<drasync::vector<int>>(r)->push_back(1);'
}

@test "a guard without a name, which gives its hold back at once, is warned of" {
  local refusing=(-Werror "-I$abs_top_srcdir/include")
  refused "nodiscard" 'drasync::read_guard{hold.region()};'
  refused "nodiscard" 'drasync::write_guard{hold.region(), std::try_to_lock};'
}

@test "a function of another shape does not compile, and the compiler says why" {
  refused_function() { # MESSAGE ANSWER PARAMETERS [CLASS]
    local declarations="$2 there($3);"
    refused "drasync: $1" \
      "drasync::${4:-function}<there> f(\"f\"); (void)f; (void)hold;"
  }
  refused_function "arguments and answers of functions are copied as bytes" \
    int "drasync_region_t, const drasync::string &"
  refused_function "arguments and answers of functions are copied as bytes" \
    drasync::string drasync_region_t
  refused_function "this argument or answer means something on one rank only" \
    int "drasync_region_t, callback"
  refused_function "this argument or answer means something on one rank only" \
    callback drasync_region_t
  refused_function "arguments and answers of functions have at most" \
    int "drasync_region_t, const std::array<char, 5000> &"
  refused_function "arguments and answers of functions are aligned to 8 bytes" \
    int "drasync_region_t, long double"
  refused_function "a function gets a copy of its argument" \
    int "drasync_region_t, int &"
  refused_function "a function that runs where a region is takes" \
    int "drasync_region_t, int, int"
  refused_function "a function that runs where a region is takes" int int
  refused_function "a batch function takes the region and drasync::arguments" \
    void "drasync_region_t, int" batch_function
  refused_function "this argument or answer means something on one rank only" \
    void "drasync_region_t, drasync::arguments<callback>" batch_function
  declarations='int there(drasync_region_t, int);' refused deleted \
    'drasync::function<there> f("f"); (void)hold;
    f.run(hold.region(), DRASYNC_READ);'
}

@test "the statements of these tests are not refused for another reason" {
  cat >fine.cc <<'END'
#include <drasync.hpp>
struct number {
    int x[2];
    std::optional<int> y;
    std::array<double, 2> z;
    std::tuple<int, double> t;
};
struct whole {
    using allocator_type = drasync::allocator<char>;
    drasync::string s;
    explicit whole(const allocator_type &a) : s(a) {}
    whole(const whole &o, const allocator_type &a) : s(o.s, a) {}
    whole(whole &&o, const allocator_type &a) : s(std::move(o.s), a) {}
};
int there(drasync_region_t, number *);
void f(drasync::write_guard &hold);
void f(drasync::write_guard &hold)
{
    drasync::function<there> f("f");
    (void)f;
    drasync::vector<int> v(hold);
    drasync::string s("abc", hold);
    drasync::map<int, drasync::vector<int>> m(hold);
    m[1];
    drasync::root<drasync::vector<int>>(hold)->push_back(1);
    drasync::make_root<drasync::string>(hold, "a");
    drasync::vector<whole> a(hold), b(hold);
    a.emplace_back();
    b = a;
    b.push_back(a[0]);
    drasync::vector<number> c(hold), d(hold);
    c.push_back(number{{1, 2}, 3, {}, {}});
    d = c;
}
END
  # shellcheck disable=SC2086
  run -0 ${compilers[0]} -std=c++17 "${strict[@]}" fine.cc
  assert_output ""
  # shellcheck disable=SC2086
  run -0 ${compilers[0]} -std=c++17 "${refusing[@]}" -fsyntax-only fine.cc
  assert_output ""
}
