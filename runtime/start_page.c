/*
 * The page where the ranks of a node meet during the start: they sleep there,
 * and nobody needs MPI.
 *
 * The leader makes it after the ranks have told each other their facts, among
 * which is the number of a descriptor that each holds for it, so that the others
 * find it under /proc/PID/fd without being told more.  Until then an eventfd
 * stands there, which the kernel does not open that way.  Where /proc is closed
 * to them (hidepid, ptrace rules) they ask over a socket of a name that they
 * know, too (start_socket.h).
 */
#include "runtime/start_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory/os.h"
#include "runtime/death.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/start_facts.h"
#include "runtime/start_socket.h"
#include "runtime/wait.h"

/* Between two looks whether the page is there. */
#define OPEN_NAP_NS 200000

/* How often those who wait see whether others live, and a leader whether others
 * ask over the socket. */
#define LOOK_US  100000
#define SERVE_US 10000

struct page {
    /* Each is written once, before a release that its readers' acquire pairs
     * with: `files` and `err` before `made`, `verdict` before `over`. */
    _Atomic uint32_t made; /* 1: the files are there, or err */
    int32_t err;
    int32_t files[START_FILES];
    _Atomic uint32_t over;
    int32_t verdict;
    /* Of all ranks; release and acquire by each one's addition to `arrived`. */
    _Atomic int32_t least;
    _Atomic uint32_t arrived;
};

_Static_assert(sizeof(struct page) <= OS_PAGE_BYTES, "a page");

static struct page alone; /* of a leader with nobody to meet */
static struct page *page;
static int page_fd = -1;
static bool listening;
static int passed[START_FILES] = {-1, -1, -1}; /* those that the socket gave */

static const char page_what[] = "cannot make the node's page";

int start_page_reserve(void)
{
    return eventfd(0, EFD_CLOEXEC);
}

static struct page *map_page(int fd)
{
    void *at =
        mmap(NULL, OS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* 0 with the page at @reserved, or -1 with errno. */
static int make_page(int reserved)
{
    int fd, error = 0;

    if (os_file_new("drasync-start", OS_PAGE_BYTES, &fd))
        return -1;
    if (os_file_reserve(fd, 0, OS_PAGE_BYTES)) {
        error = ENOMEM;
    } else {
        page = map_page(fd);
        /* From here on others may open it. */
        if (!page || dup3(fd, reserved, O_CLOEXEC) < 0)
            error = errno;
    }
    close(fd);
    errno = error;
    return error ? -1 : 0;
}

int start_page_make(const struct start_facts *own)
{
    page_fd = own->page_fd;
    if (runtime.locals == 1) {
        page = &alone;
        return 0;
    }
    listening = !start_socket_listen(own);
    if (!make_page(page_fd))
        return 0;
    int error = errno;
    if (page)
        munmap(page, OS_PAGE_BYTES);
    page = NULL;
    /* Who looks for it there asks over the socket. */
    close(page_fd);
    page_fd = -1;
    int err = refused_by_system(page_what, error);
    if (!listening)
        runtime_end_job();
    return err;
}

static void nap(void)
{
    struct timespec pause = {.tv_nsec = OPEN_NAP_NS};

    nanosleep(&pause, NULL);
    death_at_start();
}

/* Is this the page, and not what holds its place? */
static bool is_page(int fd)
{
    struct stat file;

    return !fstat(fd, &file) && S_ISREG(file.st_mode) &&
           file.st_size == (off_t)OS_PAGE_BYTES;
}

/* A descriptor of the page, or -1 with errno. */
static int open_page(const struct start_facts *leader)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)leader->pid,
             (int)leader->page_fd);
    for (;;) {
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

        if (fd < 0 && errno != ENXIO && errno != EINTR)
            return -1;
        if (fd >= 0 && is_page(fd))
            return fd;
        if (fd >= 0)
            close(fd);
        nap();
    }
}

/* The leader does not listen yet, or too many others ask; or it has just died,
 * which nap() finds out. */
static bool ask_again(int error)
{
    return error == ECONNREFUSED || error == ECONNRESET || error == EAGAIN;
}

/* The page and the files by socket: 0, or the leader's error. */
static int ask_leader(const struct start_facts *leader)
{
    int fds[1 + START_FILES], count = 0, err = 0, error;

    while (ask_again(
        error = start_socket_ask(leader, fds, 1 + START_FILES, &count, &err)))
        nap();
    if (error)
        runtime_die("cannot start: the node's memory files can be had neither "
                    "through /proc/%d/fd nor over a socket: %s",
                    (int)leader->pid, strerror(error));
    for (int i = 1; i < count; i++)
        passed[i - 1] = fds[i];
    page_fd = count ? fds[0] : -1;
    return count ? 0 : err;
}

int start_page_open(const struct start_facts *leader)
{
    int err = 0;

    page_fd = open_page(leader);
    if (page_fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        refused_by_system("cannot open the node's page", errno);
        runtime_end_job(); /* nobody could be told otherwise */
    }
    if (page_fd < 0)
        err = ask_leader(leader);
    if (err)
        return err;
    page = map_page(page_fd);
    if (!page) {
        refused_by_system("cannot map the node's page", errno);
        runtime_end_job();
    }
    close(page_fd);
    page_fd = -1;
    return 0;
}

void start_page_fill(const int *files, int err)
{
    if (!page)
        return;
    memcpy(page->files, files, sizeof(page->files));
    page->err = err;
    atomic_store(&page->made, 1);
    wait_futex_wake(&page->made, INT32_MAX);
}

/* Until *@word is set. */
static void sleep_until(_Atomic uint32_t *word)
{
    while (!atomic_load(word)) {
        wait_futex(word, 0, runtime_now_us() + LOOK_US);
        death_at_start();
    }
}

static void close_files(int *files)
{
    for (int i = 0; i < START_FILES; i++) {
        if (files[i] >= 0)
            close(files[i]);
        files[i] = -1;
    }
}

static int open_files(const struct start_facts *leader, int *files)
{
    char path[64];

    for (int i = 0; i < START_FILES; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)leader->pid,
                 (int)page->files[i]);
        files[i] = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (files[i] >= 0)
            continue;
        int error = errno;
        close_files(files);
        return refused_by_system("cannot open the node's memory files", error);
    }
    return 0;
}

int start_page_files(const struct start_facts *leader, int *files)
{
    sleep_until(&page->made);
    if (page->err) {
        close_files(passed);
        return page->err;
    }
    if (passed[0] < 0)
        return open_files(leader, files);
    memcpy(files, passed, sizeof(passed));
    return 0;
}

/* The page, and the files if there are any, to those who ask; how many did. */
static uint32_t serve(int err)
{
    int fds[1 + START_FILES] = {page_fd}, count = page ? 1 : 0;

    if (page && !page->err) {
        memcpy(fds + 1, page->files, sizeof(page->files));
        count += START_FILES;
    }
    return listening ? start_socket_serve(fds, count, err, runtime_now_us())
                     : 0;
}

static void wait_for_all(int err)
{
    uint32_t others = (uint32_t)runtime.locals - 1, told = 0;

    while (!page && told < others) {
        struct timespec pause = {.tv_nsec = SERVE_US * 1000};

        told += serve(err);
        nanosleep(&pause, NULL);
        death_at_start();
    }
    while (page) {
        uint32_t seen = atomic_load(&page->arrived);

        if (seen == others + 1)
            return;
        wait_futex(&page->arrived, seen, runtime_now_us() + SERVE_US);
        serve(0);
        death_at_start();
    }
}

int start_page_arrive(int err)
{
    if (page) {
        int32_t least = atomic_load(&page->least);

        while (err < least &&
               !atomic_compare_exchange_weak(&page->least, &least, err))
            continue;
        uint32_t arrived = atomic_fetch_add(&page->arrived, 1) + 1;
        if (arrived == (uint32_t)runtime.locals)
            wait_futex_wake(&page->arrived, 1);
    }
    if (!runtime.leader)
        return err;
    wait_for_all(err);
    return page ? atomic_load(&page->least) : err;
}

int start_page_conclude(int err)
{
    if (page && runtime.leader) {
        page->verdict = err;
        atomic_store(&page->over, 1);
        wait_futex_wake(&page->over, INT32_MAX);
    } else if (page) {
        sleep_until(&page->over);
        err = page->verdict;
    }
    if (page && page != &alone)
        munmap(page, OS_PAGE_BYTES);
    page = NULL;
    if (page_fd >= 0)
        close(page_fd);
    if (listening)
        start_socket_close();
    page_fd = -1;
    listening = false;
    return err;
}
