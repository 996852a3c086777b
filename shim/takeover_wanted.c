/*
 * Who refers to our calls: the undefined dynamic symbols of what is loaded, as
 * the relocations name them (a hash table does not list undefined symbols).
 */
#include "shim/takeover.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "transport/boot.h"

/* Names of calls that begin otherwise than drasync_. */
static const char *const names[] = {
    /* The paper's Fig. 1. */
    "new_region",
    "new_subregion",
    "delete_region",
    "ralloc",
    "acquire_region",
    "release_region",
    /* Myrmics, with and without the leading underscore. */
    "sys_ralloc",
    "sys_rfree",
    "sys_alloc",
    "sys_balloc",
    "sys_free",
    "sys_realloc",
    "sys_send",
    "sys_recv",
    "sys_barrier",
    "sys_zerostats",
    "sys_getstats",
    "sys_get_worker_id",
    "sys_get_num_workers",
    "sys_get_num_schedulers",
    "pr_get_worker_id",
    "pr_get_num_workers",
    "pr_get_num_schedulers",
};

struct object {
    const char *strings;
    size_t strings_bytes;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * relocations[2];
    size_t relocation_counts[2];
};

/* What was found: names[i] is bit i, anything that begins with drasync_ this.
 */
#define REFERS_BY_PREFIX (UINT64_C(1) << 63)

static uint64_t bit_of(const char *name)
{
    if (!strncmp(name, "drasync_", 8))
        return REFERS_BY_PREFIX;
    if (name[0] == '_')
        name++;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!strcmp(name, names[i]))
            return UINT64_C(1) << i;
    }
    return 0;
}

/* The loader has relocated these addresses on most machines, not on all. */
static const void *at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr
                                                    : address);
}

static void read_dynamic(const struct dl_phdr_info *info,
                         const ElfW(Dyn) * dynamic, struct object *o)
{
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_STRTAB:
            o->strings = at(info, d->d_un.d_ptr);
            break;
        case DT_STRSZ:
            o->strings_bytes = d->d_un.d_val;
            break;
        case DT_SYMTAB:
            o->symbols = at(info, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            o->relocations[0] = at(info, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            o->relocation_counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            o->relocations[1] = at(info, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            o->relocation_counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
}

static uint64_t references(const struct object *o)
{
    uint64_t found = 0;

    if (!o->strings || !o->symbols)
        return 0;
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *r = o->relocations[table];
        for (size_t i = 0; r && i < o->relocation_counts[table]; i++) {
            const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(r[i].r_info)];
            if (ELF64_R_SYM(r[i].r_info) != STN_UNDEF &&
                symbol->st_shndx == SHN_UNDEF &&
                symbol->st_name < o->strings_bytes)
                found |= bit_of(o->strings + symbol->st_name);
        }
    }
    return found;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *found)
{
    struct object o = {0};

    (void)size;
    if (boot_is_ours(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC)
            read_dynamic(info,
                         (const ElfW(Dyn) *)(info->dlpi_addr + p->p_vaddr), &o);
    }
    *(uint64_t *)found |= references(&o);
    return 0;
}

int drasync_takeover_wanted(void)
{
    uint64_t found = 0;
    int wanted, saved = errno;

    /* What is found is looked up afterwards: the loader's locks do not nest. */
    dl_iterate_phdr(look_at_object, &found);
    wanted = (found & REFERS_BY_PREFIX) != 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !wanted; i++) {
        if (!(found >> i & 1))
            continue;
        char underscored[32] = "_";
        strcat(underscored, names[i]);
        wanted = boot_reaches_us(names[i]) || boot_reaches_us(underscored);
    }
    errno = saved;
    return wanted;
}
