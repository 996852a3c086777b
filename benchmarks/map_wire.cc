/* map_wire - a std::map goes to another host (map_row.hpp). */
#include "benchmarks/map_row.hpp"

int main(int argc, char **argv)
{
    return map_main("map_wire", argc, argv);
}
