/*
 * The calls of the paper's Fig. 1, as printed there, without MPI in the program.
 * native_fig1 bad: the last one is a mistake.
 */
#include <stdio.h>
#include <string.h>

#include "drasync.h"

int main(int argc, char *argv[])
{
    region top = new_region();
    region below = new_subregion(top);
    char *text = ralloc(below, 32);

    strcpy(text, "written");
    release_region(top);
    acquire_region(below, READ);
    if (strcmp(text, "written"))
        return 1;
    release_region(below);
    acquire_region(top, WRITE);
    if (argc > 1 && !strcmp(argv[1], "bad"))
        release_region(below);
    delete_region(top);
    printf("fig1 ok\n");
    return 0;
}
