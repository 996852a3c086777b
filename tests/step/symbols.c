/* symbols.c - what the program's static data is called, from its own file. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"

static const char *file;
static const Elf64_Sym *symbols;
static const char *strings;
static size_t symbols_count;

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program is the first */
}

uintptr_t symbols_base(void)
{
    static uintptr_t base;
    static bool known;

    if (!known)
        dl_iterate_phdr(first_object, &base);
    known = true;
    return base;
}

static void find_table(void)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Shdr *section =
        (const Elf64_Shdr *)(const void *)(file + head->e_shoff);

    for (int i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB) {
            symbols =
                (const Elf64_Sym *)(const void *)(file + section[i].sh_offset);
            symbols_count = section[i].sh_size / sizeof(*symbols);
            strings = file + section[section[i].sh_link].sh_offset;
        }
}

static void open_file(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat stat;
    void *at = MAP_FAILED;

    file = "";
    if (fd < 0)
        return;
    if (!fstat(fd, &stat))
        at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return;
    file = at;
    find_table();
}

const char *symbols_name(uintptr_t address, uintptr_t *offset_out)
{
    uintptr_t at = address - symbols_base();

    if (!file)
        open_file();
    for (size_t i = 0; i < symbols_count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT &&
            at - symbols[i].st_value < symbols[i].st_size) {
            *offset_out = at - symbols[i].st_value;
            return strings + symbols[i].st_name;
        }
    return NULL;
}
