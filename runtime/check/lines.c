/*
 * Stacks as text: function, file and line.
 *
 * They are looked up by elfutils' libdw, which is loaded when checking starts,
 * so that a report waits for no loader, and no run that checks nothing has it.
 * Without it a line names the function and the object that it is in.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/check/state.h"
#include "runtime/code_line.h"

#if HAVE_LIBDW

/* The debuginfo of other hosts is not asked for: that takes the network. */
static char *no_path;
static Dwfl_Callbacks callbacks = {.debuginfo_path = &no_path};
static bool there;

void check_lines_open(void)
{
    there = code_line_open(false);
    callbacks.find_elf = code_line_libdw.dwfl_linux_proc_find_elf;
    callbacks.find_debuginfo = code_line_libdw.dwfl_build_id_find_debuginfo;
}

/* What this process has loaded now; NULL: cannot be said. */
static Dwfl *modules_open(void)
{
    Dwfl *dwfl = there ? code_line_libdw.dwfl_begin(&callbacks) : NULL;

    if (!dwfl)
        return NULL;
    code_line_libdw.dwfl_report_begin(dwfl);
    if (code_line_libdw.dwfl_linux_proc_report(dwfl, getpid()) ||
        code_line_libdw.dwfl_report_end(dwfl, NULL, NULL)) {
        code_line_libdw.dwfl_end(dwfl);
        return NULL;
    }
    return dwfl;
}

static void modules_close(Dwfl *dwfl)
{
    if (dwfl)
        code_line_libdw.dwfl_end(dwfl);
}

static int lines_of(Dwfl *dwfl, uintptr_t at,
                    struct code_line out[CODE_LINES_MAX])
{
    return code_lines_of(dwfl ? code_line_libdw.dwfl_addrmodule(dwfl, at)
                              : NULL,
                         at, out, CODE_LINES_MAX);
}
#else
typedef void Dwfl;

void check_lines_open(void)
{
}

static Dwfl *modules_open(void)
{
    return NULL;
}

static void modules_close(Dwfl *dwfl)
{
    (void)dwfl;
}

static int lines_of(Dwfl *dwfl, uintptr_t at,
                    struct code_line out[CODE_LINES_MAX])
{
    (void)dwfl, (void)at;
    out[0] = (struct code_line){.file = NULL};
    return 1;
}
#endif

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_ours(const void *at)
{
    Dl_info info;

    return dladdr(at, &info) && info.dli_fname &&
           !strncmp(base_name(info.dli_fname), "libdrasync", 10);
}

/* What calls a program's functions and is none. */
static bool is_outermost(const char *name)
{
    return !strcmp(name, "start_thread") ||
           !strncmp(name, "__libc_start", 12) || !strncmp(name, "__tsan_", 7);
}

/* False: what is above is no program's. */
static bool add(struct check_text *text, int number,
                const struct code_line *known, uintptr_t at, uintptr_t shown)
{
    const char *name = known->function;
    Dl_info info = {0};

    if (*name && known->file) {
        if (is_outermost(name))
            return false;
        check_add(text, "    #%d %s at %s:%d\n", number, name, known->file,
                  known->line);
        return strcmp(name, "main") != 0;
    }
    if (!dladdr((void *)at, &info) || !info.dli_fname)
        info.dli_fname = "?";
    if (!*name)
        name = info.dli_sname ? info.dli_sname : "?";
    check_add(text, "    #%d %s [%p] in %s\n", number, name, (void *)shown,
              base_name(info.dli_fname));
    return strcmp(name, "main") != 0;
}

bool check_symbol_add(struct check_text *text, uint64_t address)
{
    struct code_line known[CODE_LINES_MAX];
    Dwfl *dwfl;

    code_line_lock();
    dwfl = modules_open();
    lines_of(dwfl, (uintptr_t)address, known);
    if (known->function[0])
        check_add(text, "%s", known->function);
    modules_close(dwfl);
    code_line_unlock();
    return known->function[0];
}

/* The functions whose code is at @at, in the order of calls; false: what is above
 * is no program's.  @shown is the address to print; @last: there is no frame
 * after it. */
static bool add_frame(struct check_text *text, Dwfl *dwfl, int *number,
                      uintptr_t at, uintptr_t shown, bool last)
{
    struct code_line known[CODE_LINES_MAX];
    int count = lines_of(dwfl, at, known);

    for (int i = 0; i < count; i++) {
        /* A function of our header that was not inlined. */
        if (!*number && !(last && i == count - 1) &&
            code_line_is_header(known[i].file))
            continue;
        if (!add(text, (*number)++, &known[i], at, shown))
            return false;
    }
    return true;
}

void check_lines_add(struct check_text *text, const struct check_stack *stack,
                     bool fault)
{
    int frames = stack ? stack->frames : 0, from = 0, number = 0;
    Dwfl *dwfl;

    if (!frames) {
        check_add(text, "    (the stack is not known)\n");
        return;
    }
    while (from < frames - 1 && is_ours(stack->frame[from]))
        from++;
    /* The call that touched what the program told it to. */
    if (fault && from)
        from--;
    code_line_lock();
    dwfl = modules_open();
    for (int i = from; i < frames; i++) {
        uintptr_t shown = (uintptr_t)stack->frame[i];
        /* A return address is behind its call. */
        uintptr_t at = shown - (fault && i == 0 ? 0 : 1);

        /* What runs a function of the program, and whom it waits for. */
        if (number && is_ours(stack->frame[i]))
            continue;
        if (!shown ||
            !add_frame(text, dwfl, &number, at, shown, i == frames - 1))
            break;
    }
    modules_close(dwfl);
    code_line_unlock();
}
