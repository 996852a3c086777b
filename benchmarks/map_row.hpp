/*
 * map_row.hpp - the two rows about a std::map of 1 Mi entries, made by rank 0
 * and walked by rank 1.
 *
 * ours    the map is in a region (drasync.hpp): a read_guard, and the walk.
 *         Each time it is a new region, that rank 1 has never seen
 * theirs  a std::map with the standard's allocator.  It is written by cereal's
 *         binary archive, sent by MPI_Send() and read by cereal (cereal); or
 *         its entries are packed into an array by hand, in order, sent, and
 *         inserted at the end of a new map (pack).  These buffers are kept
 *
 * Cases: numbers (64 bits to 64 bits), words (strings of 23 characters to 64
 * bits), both inserted in the order of the keys; shuffled: numbers inserted in
 * random order, so that our walk, and theirs that packs, miss caches.  Timed at
 * rank 1: from a barrier, with the map ready at rank 0, to the sum of all
 * values.
 */
#ifndef BENCHMARKS_MAP_ROW_HPP
#define BENCHMARKS_MAP_ROW_HPP

#include "config.h"

#include "benchmarks/common.h"
#include "drasync.hpp"

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

#ifdef HAVE_CEREAL_CEREAL_HPP
#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#endif

enum { MAP_ENTRIES = 1 << 20, MAP_ENTRIES_TINY = 1 << 8 };

enum { MAP_PACK, MAP_CEREAL };
inline const char *const map_rivals[] = {"pack", "cereal"};

enum { MAP_NUMBERS, MAP_WORDS, MAP_SHUFFLED };
inline const char *const map_cases[] = {"numbers", "words", "shuffled"};

template <class Key> using plain_map = std::map<Key, std::uint64_t>;
template <class Key> using region_map = drasync::map<Key, std::uint64_t>;

struct map_row {
    struct bench bench;
    /* Filled in here: */
    std::uint32_t entries;
    std::vector<std::uint32_t> order;           /* of insertion, shuffled */
    plain_map<std::uint64_t> numbers, shuffled; /* theirs, at rank 0 */
    plain_map<std::string> words;
    std::vector<char> buffer;
};

/* The key of entry @i, in a buffer; they are in order of @i. */
inline const char *map_word(std::uint32_t i, char (&word)[32])
{
    std::snprintf(word, sizeof(word), "%010u-a-longer-key", i);
    return word;
}

/* Entries in order, or as row->order has them. */
template <class Map> void map_fill(const struct map_row &row, Map &map)
{
    using key = typename Map::key_type;
    char word[32];

    for (std::uint32_t i = 0; i < row.entries; i++)
        if constexpr (std::is_integral_v<key>) {
            if (row.bench.now == MAP_SHUFFLED)
                map.emplace(row.order[i], row.order[i]);
            else
                map.emplace_hint(map.end(), i, i);
        } else {
            map.emplace_hint(map.end(), map_word(i, word), i);
        }
}

/* The sum of the values; a look at each key, too. */
template <class Map>
std::uint64_t map_walk(const struct map_row &row, const Map &map)
{
    std::uint64_t sum = 0, keys = 0;

    for (const auto &[key, value] : map) {
        sum += value;
        if constexpr (std::is_integral_v<typename Map::key_type>)
            keys += key;
        else
            keys += static_cast<unsigned char>(key[9]);
    }
    bench_keep(&keys);
    bench_require(sum == std::uint64_t(row.entries) * (row.entries - 1) / 2,
                  "sum");
    return sum;
}

/* --- Ours ----------------------------------------------------------------- */

template <class Key> double map_ours(struct map_row &row)
{
    drasync::unique_region owner;
    drasync_region_t region = nullptr;
    double ms = 0;

    if (row.bench.rank == 0) {
        auto made = drasync::make_region();

        map_fill(row, drasync::make_root<region_map<Key>>(made.hold));
        owner = std::move(made.region);
        region = owner.get();
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (row.bench.rank == 1) {
        const double begin = bench_now_ns();
        drasync::read_guard hold(region);

        map_walk(row, *drasync::root<region_map<Key>>(hold));
        ms = (bench_now_ns() - begin) * 1e-6;
    }
    return bench_told(ms, 1);
}

/* --- Theirs --------------------------------------------------------------- */

inline void map_send(const char *data, std::size_t bytes)
{
    bench_require(bytes <= INT_MAX, "too long for a message");
    MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

inline std::size_t map_coming()
{
    MPI_Status status;
    int bytes;

    MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return static_cast<std::size_t>(bytes);
}

inline void map_receive(char *data, std::size_t bytes)
{
    MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* An entry by hand: the value; the key, or its length and characters. */
template <class T> void map_put(std::vector<char> &out, const T &value)
{
    const auto *bytes = reinterpret_cast<const char *>(&value);

    out.insert(out.end(), bytes, bytes + sizeof(value));
}

template <class T> T map_get(const char *&at)
{
    T value;

    std::memcpy(&value, at, sizeof(value));
    at += sizeof(value);
    return value;
}

template <class Key>
void map_pack(std::vector<char> &out, const plain_map<Key> &map)
{
    out.clear();
    for (const auto &[key, value] : map) {
        map_put(out, value);
        if constexpr (std::is_integral_v<Key>) {
            map_put(out, key);
        } else {
            map_put(out, key.size());
            out.insert(out.end(), key.begin(), key.end());
        }
    }
}

template <class Key>
void map_unpack(const std::vector<char> &in, plain_map<Key> &map)
{
    const char *at = in.data();

    while (at != in.data() + in.size()) {
        const auto value = map_get<std::uint64_t>(at);

        if constexpr (std::is_integral_v<Key>) {
            map.emplace_hint(map.end(), map_get<Key>(at), value);
        } else {
            const auto length = map_get<std::size_t>(at);

            map.emplace_hint(map.end(), std::string_view(at, length), value);
            at += length;
        }
    }
}

template <class Key>
void map_theirs_send(struct map_row &row, const plain_map<Key> &map)
{
    if (row.bench.rival == MAP_PACK) {
        map_pack(row.buffer, map);
        map_send(row.buffer.data(), row.buffer.size());
        return;
    }
#ifdef HAVE_CEREAL_CEREAL_HPP
    std::ostringstream out;

    cereal::BinaryOutputArchive archive(out);
    archive(map);
    const std::string bytes = out.str();
    map_send(bytes.data(), bytes.size());
#endif
}

template <class Key>
void map_theirs_receive(struct map_row &row, plain_map<Key> &map)
{
    const std::size_t bytes = map_coming();

    if (row.bench.rival == MAP_PACK) {
        row.buffer.resize(bytes);
        map_receive(row.buffer.data(), bytes);
        map_unpack(row.buffer, map);
        return;
    }
#ifdef HAVE_CEREAL_CEREAL_HPP
    std::string data(bytes, '\0');

    map_receive(data.data(), bytes);
    std::istringstream in(data);
    cereal::BinaryInputArchive archive(in);
    archive(map);
#endif
}

template <class Key> double map_theirs(struct map_row &row, plain_map<Key> &map)
{
    double ms = 0;

    if (row.bench.rank == 0 && map.empty())
        map_fill(row, map);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = bench_now_ns();

    if (row.bench.rank == 0) {
        map_theirs_send(row, map);
    } else if (row.bench.rank == 1) {
        plain_map<Key> arrived;

        map_theirs_receive(row, arrived);
        map_walk(row, arrived);
        ms = (bench_now_ns() - begin) * 1e-6;
    }
    return bench_told(ms, 1);
}

/* --- The row -------------------------------------------------------------- */

inline double map_ours_now(void *arg)
{
    auto &row = *static_cast<struct map_row *>(arg);

    return row.bench.now == MAP_WORDS ? map_ours<drasync::string>(row)
                                      : map_ours<std::uint64_t>(row);
}

inline double map_theirs_now(void *arg)
{
    auto &row = *static_cast<struct map_row *>(arg);

    switch (row.bench.now) {
    case MAP_WORDS:
        return map_theirs(row, row.words);
    case MAP_SHUFFLED:
        return map_theirs(row, row.shuffled);
    default:
        return map_theirs(row, row.numbers);
    }
}

inline int map_main(const char *name, int argc, char **argv)
{
    struct map_row row = {};
    struct bench &b = row.bench;
    std::uint64_t seed = 1;

    b.name = name;
    b.unit = "ms";
    b.what =
        "A std::map of 1 Mi entries goes to another rank and is walked: in "
        "a region;\npacked by hand, or by cereal, sent and made anew.\n";
    b.runs = 9;
    b.jobs = 3;
    b.cases = map_cases;
    b.cases_count = sizeof(map_cases) / sizeof(map_cases[0]);
    b.main_case = MAP_NUMBERS + 1;
    b.rivals = map_rivals;
    b.rivals_count = sizeof(map_rivals) / sizeof(map_rivals[0]);
    bench_start(&b, argc, argv, 2);
#ifndef HAVE_CEREAL_CEREAL_HPP
    if (b.side == BENCH_THEIRS + MAP_CEREAL)
        bench_skip(&b, "cereal is not there (Debian: libcereal-dev)");
#endif
    row.entries = b.tiny ? MAP_ENTRIES_TINY : MAP_ENTRIES;
    for (std::uint32_t i = 0; i < row.entries; i++)
        row.order.push_back(i);
    for (std::uint32_t i = row.entries - 1; i > 0; i--)
        std::swap(row.order[i], row.order[bench_random(&seed) % (i + 1)]);
    bench_compare(&b, map_ours_now, map_theirs_now, &row);
    return bench_finish(&b);
}

#endif /* BENCHMARKS_MAP_ROW_HPP */
