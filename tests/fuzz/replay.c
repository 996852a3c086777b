/*
 * replay.c - a target without a fuzzer: each file of its corpus once, or of the
 * directories and files it is given, with a line of TAP for each.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static int count;

static void fail(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Not by stdio, which a target may have taken over. */
static void run_file(const char *path)
{
    const char *name = strrchr(path, '/');
    int fd = open(path, O_RDONLY);
    struct stat about;

    if (fd < 0 || fstat(fd, &about))
        fail(path);
    size_t bytes = (size_t)about.st_size;
    /* Of its size, so that a sanitizer sees what reads past it. */
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (!data || read(fd, data, bytes) != (ssize_t)bytes)
        fail(path);
    close(fd);
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    printf("ok %d - %s\n", ++count, name ? name + 1 : path);
    fflush(stdout);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run(const char *path)
{
    struct dirent **names;
    struct stat about;

    if (stat(path, &about))
        fail(path);
    if (!S_ISDIR(about.st_mode)) {
        run_file(path);
        return;
    }
    int found = scandir(path, &names, is_visible, alphasort);
    if (found < 0)
        fail(path);
    for (int i = 0; i < found; i++) {
        char inner[PATH_MAX];

        snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name);
        free(names[i]);
        run_file(inner);
    }
    free(names);
}

/* tests/fuzz/corpus/NAME for a program NAME.t. */
static void run_corpus(void)
{
    const char *top = getenv("abs_top_srcdir");
    const char *name = program_invocation_short_name;
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%.*s", top ? top : ".",
             (int)strcspn(name, "."), name);
    run(path);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        run_corpus();
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    printf("1..%d\n", count);
    return count == 0;
}
