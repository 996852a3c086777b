/* How far a save has come, on a terminal (runtime/save/progress.h). */
#include "memory_common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/save/progress.h"

#define S  UINT64_C(1000000)
#define MB UINT64_C(1048576)

/* What has been written to the terminal of @master since the last time. */
static const char *said(int master)
{
    static char text[4096];
    ssize_t got = read(master, text, sizeof(text) - 1);

    text[got > 0 ? got : 0] = 0;
    return text;
}

static void on_a_terminal(int master, int terminal)
{
    struct progress p;

    progress_begin(&p, terminal, "state.saved", 1000 * MB, 7 * S);
    progress_show(&p, 100 * MB, 8 * S);
    tap_ok(!said(master)[0], "for two seconds nothing is said");
    progress_end(&p);
    tap_ok(!said(master)[0], "nor erased, if nothing was");
    progress_show(&p, 250 * MB, 9 * S + S / 2);
    tap_ok(strstr(said(master),
                  "\r\033[Kdrasync: rank 0 saves: 25% of 1000 MiB, 100 MiB/s, "
                  "to state.saved") != NULL,
           "then how much is done, and how fast");
    progress_show(&p, 260 * MB, 9 * S + S / 2 + 1000);
    tap_ok(!said(master)[0], "but not for each piece");
    progress_show(&p, 1000 * MB, 9 * S + S / 2 + 2000);
    tap_ok(strstr(said(master),
                  "\r\033[Kdrasync: rank 0 saves: 1000 MiB, until") != NULL,
           "that all is written is said at once");
    progress_end(&p);
    tap_ok(!strcmp(said(master), "\r\033[K"), "at the end the line is gone");
}

static void on_a_narrow_one(int master, int terminal)
{
    struct winsize size = {.ws_row = 5, .ws_col = 20};
    struct progress p;

    REQUIRE(!ioctl(terminal, TIOCSWINSZ, &size));
    progress_begin(&p, terminal, "state.saved", 1000 * MB, 0);
    progress_show(&p, 0, 3 * S);
    tap_ok(strlen(said(master)) == strlen("\r\033[K") + 19,
           "the line is not wrapped");
    progress_end(&p);
}

static void elsewhere(void)
{
    struct progress p;
    char byte;
    int ends[2];

    REQUIRE(!pipe(ends));
    progress_begin(&p, ends[1], "state.saved", 1000 * MB, 0);
    progress_show(&p, 1, 9 * S);
    progress_end(&p);
    close(ends[1]);
    tap_ok(read(ends[0], &byte, 1) == 0, "what is no terminal is left alone");
    close(ends[0]);
}

int main(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), terminal;

    if (master < 0 || grantpt(master) || unlockpt(master) ||
        (terminal = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0) {
        printf("1..0 # SKIP this machine gives no terminal\n");
        return 0;
    }
    on_a_terminal(master, terminal);
    on_a_narrow_one(master, terminal);
    elsewhere();
    return tap_end();
}
