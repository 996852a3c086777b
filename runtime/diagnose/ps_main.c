/* drasync-ps: see ps.h. */
#include "runtime/diagnose/ps.h"

int main(int argc, char **argv)
{
    return drasync_ps(argc, argv);
}
