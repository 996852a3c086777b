/* Tools between the program and MPI: see boot_direct() in boot.h. */
#include "transport/boot.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

/* Where more is loaded a tool is taken to be there. */
#define OBJECTS_MAX 1024

/* The executable and its libraries, in the order in which names are looked up:
 * an address in each. */
struct loaded {
    const void *at[OBJECTS_MAX];
    size_t count;
    bool more;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded *loaded = arg;

    (void)size;
    loaded->more = loaded->count == OBJECTS_MAX;
    for (int i = 0; i < info->dlpi_phnum && !loaded->more; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD)
            continue;
        loaded->at[loaded->count++] =
            (const void *)(info->dlpi_addr + p->p_vaddr);
        break;
    }
    return loaded->more;
}

bool boot_is_ours(const char *path)
{
    const char *name = strrchr(path, '/');

    return !strncmp(name ? name + 1 : path, "libdrasync", 10);
}

bool boot_reaches_us(const char *name)
{
    const void *symbol = dlsym(RTLD_DEFAULT, name);
    Dl_info info;

    return symbol && dladdr(symbol, &info) && boot_is_ours(info.dli_fname);
}

/* Does the object at @base, the first in which @handle looks, have one of
 * @names? */
static bool defines(void *handle, const void *base, const char *const *names,
                    size_t count)
{
    Dl_info info;

    for (size_t i = 0; i < count; i++) {
        const void *symbol = dlsym(handle, names[i]);

        if (symbol && dladdr(symbol, &info) && info.dli_fbase == base)
            return true;
    }
    return false;
}

bool boot_direct(const char *const *names, size_t count)
{
    struct loaded loaded = {.count = 0};
    int saved = errno;
    bool direct;

    /* What is found is looked up afterwards: the loader's locks do not nest. */
    dl_iterate_phdr(note_object, &loaded);
    direct = boot_reaches_us(names[0]) && !loaded.more;
    for (size_t i = 0;
         i < loaded.count && direct && !boot_is_mpi(loaded.at[i]); i++) {
        Dl_info info;
        void *handle;

        if (!dladdr(loaded.at[i], &info) || boot_is_ours(info.dli_fname))
            continue;
        handle = dlopen(i ? info.dli_fname : NULL, RTLD_LAZY | RTLD_NOLOAD);
        if (!handle)
            continue;
        direct = !defines(handle, info.dli_fbase, names, count);
        dlclose(handle);
    }
    errno = saved;
    return direct;
}
