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

using word_list = std::vector<std::pair<std::string, place>>;

/*
 * Append the words of one file, in lower case, to @words in this rank's own
 * memory.  Returns whether the file could be read.
 */
bool read_words(const char *name, int file, word_list &words)
{
    std::ifstream in(name);
    std::string text, word;

    if (!in)
        return false;
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
    return in.eof() && !in.bad();
}

/* As new ones and others are added by everybody in turn, all under WRITE. */
void add(drasync_region_t region, const word_list &words)
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

/*
 * Returns the program's status.  All ranks agree that every file was read
 * before the index is begun, so that all of them end in order: what a rank has
 * printed may be lost when MPI_Abort ends it.
 */
int run(int files, char **names, std::size_t top)
{
    drasync_region_t region = nullptr;
    drasync::unique_region owner;
    int rank, ranks, unread = 0;
    word_list mine;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int file = rank; file < files; file += ranks) {
        if (!read_words(names[file], file, mine)) {
            std::fprintf(stderr, "wordindex: cannot read %s\n", names[file]);
            unread = 1;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &unread, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (unread)
        return 1;
    if (rank == 0) {
        auto made = drasync::make_region();

        drasync::make_root<index_map>(made.hold);
        owner = std::move(made.region);
        region = owner.get();
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    add(region, mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        print(region, top, names);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    long top = 10;
    int first = 1, status = 0;

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
        status = run(argc - first, argv + first, static_cast<std::size_t>(top));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "wordindex: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
