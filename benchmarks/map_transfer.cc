/* map_transfer - a std::map goes to another rank of a node (map_row.hpp). */
#include "benchmarks/map_row.hpp"

int main(int argc, char **argv)
{
    return map_main("map_transfer", argc, argv);
}
