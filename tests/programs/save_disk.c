/*
 * Files that cannot be loaded, and disks on which they cannot be saved.
 *
 *   save_disk refused FILE ERROR loading FILE gives ERROR, and nothing is left
 *   save_disk keeps FILE         saved; then files may be no larger than 1 MiB,
 *                                saving fails, and the job goes on
 *   save_disk fails FILE ERROR   saving gives ERROR
 *   save_disk again FILE         saved again and again, until it is killed
 */
#include <sys/resource.h>

#include "save_tree.h"

static void refused(const char *path, const char *error)
{
    struct drasync_stats before, after;
    drasync_region_t region;

    if (check_rank)
        return;
    OK(drasync_get_stats(&before));
    int err = drasync_load(path, &region);
    printf("load gave %s\n", drasync_errname(err));
    CHECK(!strcmp(drasync_errname(err), error));
    OK(drasync_get_stats(&after));
    CHECK(after.regions == before.regions);
}

static drasync_region_t make_noise(void)
{
    drasync_region_t top = make_top("tree");
    uint64_t state = 1;
    unsigned char *noise = object(top, 8 << 20);

    for (int i = 0; i < 8 << 20; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        noise[i] = (unsigned char)(state >> 56);
    }
    OK(drasync_release(top));
    return top;
}

static void keeps(const char *path)
{
    struct rlimit limit, before;
    drasync_region_t top;

    if (check_rank)
        return;
    top = make_noise();
    OK(drasync_save(top, path));
    CHECK(!getrlimit(RLIMIT_FSIZE, &before));
    limit = before;
    limit.rlim_cur = 1 << 20;
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    CODE(drasync_save(top, path), DRASYNC_EFILE);
    CHECK(!setrlimit(RLIMIT_FSIZE, &before));
    OK(drasync_acquire(top, DRASYNC_WRITE));
    object(top, 100);
    OK(drasync_delete(top));
    top = load_again(path);
    hash_tree(top);
}

static void fails(const char *path, const char *error)
{
    drasync_region_t top;
    int err;

    if (check_rank)
        return;
    top = make_noise();
    err = drasync_save(top, path);
    printf("save gave %s\n", drasync_errname(err));
    CHECK(!strcmp(drasync_errname(err), error));
    hash_held(top);
}

static void again(const char *path)
{
    drasync_region_t top = make_noise();

    for (;;)
        OK(drasync_save(top, path));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *path = argc > 2 ? argv[2] : "";
    const char *error = argc > 3 ? argv[3] : "";

    check_start(&argc, &argv);
    if (!strcmp(what, "refused"))
        refused(path, error);
    else if (!strcmp(what, "keeps"))
        keeps(path);
    else if (!strcmp(what, "fails"))
        fails(path, error);
    else if (!strcmp(what, "again"))
        again(path);
    else
        CHECK(!"a word that this program knows");
    return check_end(what);
}
