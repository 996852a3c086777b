/*
 * start_socket.c - descriptors of a leader's go to the ranks of its start, and
 * to nobody else who connects to its socket: another user, another job, those
 * who say nothing.  One process is both sides; time is what the test says.
 */
#include "runtime/start_socket.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "memory_common.h"
#include "runtime/process.h"
#include "runtime/start_facts.h"

enum { NOBODY = 65534 };

struct runtime runtime = {.host_key = 7};

static struct start_facts leader = {.secret = {11, 12}};
static int given; /* the descriptor that goes to those who ask */

/* --- Those who connect ----------------------------------------------------- */

static int connect_to(const struct start_facts *facts)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
                          "drasync-7-%d-%llx", (int)facts->pid,
                          (unsigned long long)facts->secret[0]);

    REQUIRE(fd >= 0);
    REQUIRE(!connect(fd, (struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                 (size_t)length)));
    return fd;
}

static int says(uint64_t secret, size_t bytes)
{
    int fd = connect_to(&leader);

    REQUIRE(send(fd, &secret, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
    return fd;
}

/* Has the other side closed without an answer? */
static bool is_closed(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Does an answer with the descriptor wait at @fd? */
static bool is_answered(int fd)
{
    struct stat one, other;
    int fds[2] = {-1, -1}, count = 0, err = 1;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool good;

    if (poll(&wait, 1, 0) != 1 ||
        start_socket_receive(fd, fds, 2, &count, &err))
        return false;
    good = count == 1 && err == -3 && !fstat(fds[0], &one) &&
           !fstat(given, &other) && one.st_ino == other.st_ino;
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return good;
}

static uint32_t serve(uint64_t now_us)
{
    return start_socket_serve(&given, 1, -3, now_us);
}

/* --- Tests ----------------------------------------------------------------- */

static void those_of_the_start(void)
{
    int fd = says(leader.secret[1], 8), later = connect_to(&leader);

    tap_ok(serve(0) == 1 && is_answered(fd), "who says the secret is answered");
    tap_ok(is_open(later) && !serve(1) && is_open(later),
           "who has said nothing yet is waited for");
    REQUIRE(send(later, &leader.secret[1], 8, 0) == 8);
    tap_ok(serve(2) == 1 && is_answered(later), "and answered when it does");
    close(fd);
    close(later);
}

/* The asking side, in a process of its own. */
static void asks(void)
{
    int fds[2], count = 0, err = 0, status, ended = 0;
    pid_t pid = fork();

    if (!pid)
        _exit(start_socket_ask(&leader, fds, 2, &count, &err) || count != 1 ||
              err != -3);
    REQUIRE(pid > 0);
    while (!ended) {
        serve(0);
        ended = waitpid(pid, &status, WNOHANG);
    }
    tap_ok(WIFEXITED(status) && !WEXITSTATUS(status),
           "a rank gets the descriptor and the leader's error");
}

static void other_jobs(void)
{
    struct start_facts other = leader;
    int fds[2], count, err, fd = says(leader.secret[1] + 1, 8),
                            part = says(leader.secret[1], 4);

    tap_ok(!serve(0) && is_closed(fd) && is_closed(part),
           "another secret, or half of it, gets nothing");
    other.secret[0]++;
    tap_ok(start_socket_ask(&other, fds, 2, &count, &err) == ECONNREFUSED,
           "another start has another name");
    close(fd);
    close(part);
}

static void silence(void)
{
    int silent[START_SOCKET_ASKING_MAX + 1], fd, closed = 0, open = 0;

    for (int i = 0; i <= START_SOCKET_ASKING_MAX; i++)
        silent[i] = connect_to(&leader);
    fd = says(leader.secret[1], 8);
    tap_ok(serve(0) == 1 && is_answered(fd),
           "many who say nothing do not keep one who does from its answer");
    for (int i = 0; i <= START_SOCKET_ASKING_MAX; i++)
        open += is_open(silent[i]);
    tap_ok(open == START_SOCKET_ASKING_MAX - 1 && is_closed(silent[0]),
           "the oldest of them go first");
    serve(START_SOCKET_SILENT_US);
    for (int i = 0; i <= START_SOCKET_ASKING_MAX; i++) {
        closed += is_closed(silent[i]);
        close(silent[i]);
    }
    tap_ok(closed == START_SOCKET_ASKING_MAX + 1, "the others when time is up");
    close(fd);
}

/* @does as another user: its exit status. */
static int as_nobody(int (*does)(void))
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        REQUIRE(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
        _exit(does());
    }
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int knows_the_secret(void)
{
    char byte;
    int fd = says(leader.secret[1], 8);
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    /* Until it is answered, or closed. */
    poll(&wait, 1, -1);
    return recv(fd, &byte, 1, 0) == 1;
}

static int listens(void)
{
    return start_socket_listen(&leader) != 0;
}

/* Somebody serves while another user asks. */
static void another_user(void)
{
    static const char refused[] = "another user who knows the secret gets "
                                  "nothing",
                      not_believed[] = "nor is another user's socket believed";
    int fds[2], count, err, status, got;

    if (geteuid()) {
        tap_skip(refused, "needs root, to be somebody else");
        tap_skip(not_believed, "needs root, to be somebody else");
        return;
    }
    pid_t pid = fork();
    if (!pid)
        for (;;)
            serve(0);
    got = as_nobody(knows_the_secret);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    tap_ok(!got, refused);

    start_socket_close();
    int pipes[2];
    char byte;
    REQUIRE(!pipe(pipes));
    pid = fork();
    if (!pid) {
        REQUIRE(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
        REQUIRE(!listens() && write(pipes[1], "", 1) == 1);
        pause();
    }
    REQUIRE(read(pipes[0], &byte, 1) == 1);
    tap_ok(start_socket_ask(&leader, fds, 2, &count, &err) == EACCES,
           not_believed);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

int main(void)
{
    leader.pid = getpid();
    given = dup(0);
    REQUIRE(given >= 0 && !start_socket_listen(&leader));
    those_of_the_start();
    asks();
    other_jobs();
    silence();
    another_user();
    start_socket_close();
    return tap_end();
}
