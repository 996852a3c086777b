/*
 * code_line.h - the function, file and line of an address, by elfutils' libdw,
 * which is loaded at run time where it is installed.
 *
 * What was inlined from drasync.hpp, a file of include/drasync/ or the C++
 * library is the line of the program that called it: nobody looks there for
 * a mistake.  Names of C++ are as their author wrote them, if the process has a
 * C++ library that can say so.
 */
#ifndef DRASYNC_RUNTIME_CODE_LINE_H
#define DRASYNC_RUNTIME_CODE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

#define CODE_LINE_FUNCTION_BYTES 160

struct code_line {
    char function[CODE_LINE_FUNCTION_BYTES]; /* "": not known */
    const char *file; /* NULL: not known; lives as long as the module */
    int line;
    uint64_t within; /* bytes from where the function's symbol is */
};

/* libdw need not be thread-safe: one thread at a time uses it, from here to there. */
void code_line_lock(void);
void code_line_unlock(void);

/* Is that one of ours, which C++ programs include? */
bool code_line_is_header(const char *file);

#if HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#define CODE_LINE_CALLS(X)          \
    X(dwfl_begin)                   \
    X(dwfl_end)                     \
    X(dwfl_report_begin)            \
    X(dwfl_report_end)              \
    X(dwfl_report_elf)              \
    X(dwfl_linux_proc_report)       \
    X(dwfl_linux_proc_find_elf)     \
    X(dwfl_build_id_find_debuginfo) \
    X(dwfl_offline_section_address) \
    X(dwfl_addrmodule)              \
    X(dwfl_module_info)             \
    X(dwfl_module_addrinfo)         \
    X(dwfl_module_addrdie)          \
    X(dwfl_module_getsrc)           \
    X(dwfl_lineinfo)                \
    X(dwarf_getscopes)              \
    X(dwarf_getscopes_die)          \
    X(dwarf_getsrcfiles)            \
    X(dwarf_filesrc)                \
    X(dwarf_tag)                    \
    X(dwarf_diename)                \
    X(dwarf_attr)                   \
    X(dwarf_attr_integrate)         \
    X(dwarf_formstring)             \
    X(dwarf_formudata)

/* libdw's calls, for who has the lock. */
extern struct code_line_libdw {
#define CODE_LINE_FIELD(name) __typeof__(&name) name;
    CODE_LINE_CALLS(CODE_LINE_FIELD)
#undef CODE_LINE_FIELD
} code_line_libdw;

/* Load it; false: it is not there.  Idempotent, any thread.  @others: code of
 * other programs will be asked for too, that may be of C++ though this one is
 * not. */
bool code_line_open(bool others);

/* Functions that one address may be in, but for those left out. */
#define CODE_LINES_MAX 8

/* What libdw knows of @address in @module: the function whose code was inlined
 * there, the one that called it, and so on, at most @max and at least one, the
 * last.  Returns how many.  Loads nothing; allocates memory. */
int code_lines_of(Dwfl_Module *module, Dwarf_Addr address,
                  struct code_line *out, int max);

#endif
#endif /* DRASYNC_RUNTIME_CODE_LINE_H */
