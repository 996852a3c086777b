/*
 * An index of words that all ranks build together: a map of strings to vectors
 * in one region, by drasync.hpp.  Each rank reads some of the files and adds
 * their words; at the end rank 0 walks the map, which nobody sent it.
 */
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <mpi.h>

#include "drasync.hpp"

namespace
{

const char usage[] =
    "Usage: wordindex [--top N] FILE...\n"
    "Index the words of the files on all ranks; print the N most frequent\n"
    "ones (10), with how often and where first.  Run by mpirun.\n";

struct place {
    int file, line;
};

bool operator<(place a, place b)
{
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
}

using index_map = drasync::map<drasync::string, drasync::vector<place>>;

/* The words of one file, in lower case, in this rank's own memory. */
std::vector<std::pair<std::string, place>> words_of(const char *name, int file)
{
    std::vector<std::pair<std::string, place>> words;
    std::ifstream in(name);
    std::string text, word;

    if (!in)
        throw std::runtime_error(std::string("cannot read ") + name);
    for (int line = 1; std::getline(in, text); line++) {
        text += '\n';
        for (char c : text) {
            const auto letter = static_cast<unsigned char>(c);

            if (std::isalpha(letter))
                word += static_cast<char>(std::tolower(letter));
            else if (!word.empty())
                words.emplace_back(std::exchange(word, {}), place{file, line});
        }
    }
    return words;
}

/* As new ones and others are added by everybody in turn, all under WRITE. */
void add(drasync_region_t region,
         const std::vector<std::pair<std::string, place>> &words)
{
    drasync::write_guard hold(region);
    index_map &index = *drasync::root<index_map>(hold);

    for (const auto &[word, where] : words)
        index[{word.c_str(), hold}].push_back(where);
}

void print(drasync_region_t region, std::size_t top, char **names)
{
    drasync::read_guard hold(region);
    const index_map &index = *drasync::root<index_map>(hold);
    std::vector<index_map::const_pointer> entries;

    for (const auto &entry : index)
        entries.push_back(&entry);
    std::stable_sort(entries.begin(), entries.end(), [](auto a, auto b) {
        return a->second.size() > b->second.size();
    });
    std::printf("%zu words\n", entries.size());
    entries.resize(std::min(top, entries.size()));
    for (auto entry : entries) {
        const auto &[word, places] = *entry;
        const place first = *std::min_element(places.begin(), places.end());

        std::printf("%s %zu, first %s:%d\n", word.c_str(), places.size(),
                    names[first.file], first.line);
    }
}

void run(int files, char **names, std::size_t top)
{
    drasync_region_t region = nullptr;
    drasync::unique_region owner;
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        auto made = drasync::make_region();

        drasync::make_root<index_map>(made.hold);
        owner = std::move(made.region);
        region = owner.get();
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int file = rank; file < files; file += ranks)
        add(region, words_of(names[file], file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        print(region, top, names);
}

} // namespace

int main(int argc, char **argv)
{
    long top = 10;
    int first = 1;

    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::fputs(usage, stdout);
        return 0;
    }
    if (argc > 1 && std::string_view(argv[1]) == "--version") {
        std::printf("wordindex %s\n", DRASYNC_VERSION);
        return 0;
    }
    if (argc > 2 && std::string_view(argv[1]) == "--top") {
        top = std::strtol(argv[2], nullptr, 10);
        first = 3;
    }
    if (first >= argc || argv[first][0] == '-' || top < 1) {
        std::fputs(usage, stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    try {
        run(argc - first, argv + first, static_cast<std::size_t>(top));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "wordindex: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return MPI_Finalize();
}
