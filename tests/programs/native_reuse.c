/*
 * Regions that come and go: what was done to one must not be seen in the next
 * one, which lies where it was.
 *
 * native_reuse
 */
#include <pthread.h>

#include "native_objects.h"

static void is_gone(drasync_region_t r, void *object)
{
    drasync_region_t of;
    void *v;

    CODE(drasync_alloc(r, 48, &v), DRASYNC_ENOREGION);
    CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_ENOREGION);
    CODE(drasync_try_acquire(r, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_release(r), DRASYNC_ENOREGION);
    CODE(drasync_set_root(r, r), DRASYNC_ENOREGION);
    CODE(drasync_get_root(r, &v), DRASYNC_ENOREGION);
    CODE(drasync_delete(r), DRASYNC_ENOREGION);
    CODE(drasync_new_subregion(r, &of), DRASYNC_ENOREGION);
    CODE(drasync_publish("gone", r), DRASYNC_ENOREGION);
    CODE(drasync_region_of(object, &of), DRASYNC_ENOREGION);
    CODE(drasync_free(object), DRASYNC_ENOOBJECT);
}

/* What is done to a region must not be seen in the next one.  @alone: nobody
 * else makes regions, where those were. */
static void come_and_go(int alone)
{
    struct drasync_stats before, after;

    OK(drasync_get_stats(&before));
    for (int i = 0; i < 250; i++) {
        drasync_region_t r, below, of;
        struct object *list = NULL;
        void *root, *big;

        OK(drasync_new_region(&r));
        OK(drasync_get_root(r, &root));
        CHECK(!root);
        for (size_t n = 0; n < (size_t)(i % 13) * 5; n++)
            list = make(r, list, n, (unsigned char)i);
        CHECK(look(list, (unsigned char)i) == (size_t)(i % 13) * 5);
        if (i % 3 == 1)
            OK(drasync_set_root(r, list));
        if (i % 5 == 2)
            thin(list);
        if (i % 7 == 3) {
            OK(drasync_release(r));
            OK(drasync_acquire(r, DRASYNC_WRITE));
            list = make(r, list, 3, (unsigned char)i);
        }
        if (i % 11 == 4)
            OK(drasync_new_subregion(r, &below));
        if (i % 17 == 5) {
            OK(drasync_alloc(r, 100000, &big));
            memset(big, 1, 100000);
        }
        if (i % 19 == 6)
            OK(drasync_acquire(r, DRASYNC_WRITE));
        list = make(r, list, 9, (unsigned char)i);
        OK(drasync_region_of(list, &of));
        CHECK(of == r);
        OK(drasync_delete(r));
        if (alone)
            is_gone(r, list);
    }
    OK(drasync_get_stats(&after));
    CHECK(!alone || before.regions == after.regions);
}

static void *go_work(void *arg)
{
    (void)arg;
    come_and_go(0);
    return NULL;
}

/* Also in threads, which end. */
static void come_and_go_in_threads(void)
{
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        CHECK(!pthread_create(&thread[i], NULL, go_work, NULL));
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_join(thread[i], NULL));
}

/* A name goes with its region, and not to the next one. */
static void names_go(void)
{
    drasync_region_t r = NULL, found;
    char name[32];

    snprintf(name, sizeof(name), "windows %d", check_rank);
    for (int i = 0; i < 5; i++) {
        OK(drasync_new_region(&r));
        CODE(drasync_lookup(name, 0, &found), DRASYNC_EAGAIN);
        if (i % 2 == 0) {
            OK(drasync_publish(name, r));
            OK(drasync_lookup(name, DRASYNC_FOREVER, &found));
            CHECK(found == r);
        }
        OK(drasync_delete(r));
    }
}

/* A rank makes regions where others were; another rank asks for them. */
static void known_to_others(void)
{
    for (int i = 0; i < 40; i++) {
        drasync_region_t r = NULL, old = NULL;
        void *v;

        if (check_rank == 0) {
            OK(drasync_new_region(&old));
            three(old);
            OK(drasync_delete(old));
        }
        check_share(&old, 0);
        if (check_rank) {
            int err = drasync_acquire(old, DRASYNC_WRITE);

            CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
        }
        check_barrier();
        if (check_rank == 0) {
            OK(drasync_new_region(&r));
            OK(drasync_alloc(r, 40, &v));
            strcpy(v, "here");
            OK(drasync_set_root(r, v));
        }
        check_share(&r, 0);
        if (check_rank == 0) {
            OK(drasync_release(r));
        } else {
            OK(drasync_acquire(r, DRASYNC_READ));
            OK(drasync_get_root(r, &v));
            CHECK(!strcmp(v, "here"));
            OK(drasync_release(r));
        }
        check_barrier();
        if (check_rank == check_ranks - 1) {
            if (i % 2)
                OK(drasync_acquire(r, DRASYNC_WRITE));
            OK(drasync_delete(r));
        }
        check_barrier();
    }
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    come_and_go(check_ranks == 1);
    come_and_go_in_threads();
    names_go();
    known_to_others();
    return check_end("reuse");
}
