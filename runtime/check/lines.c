/*
 * Stacks as text: function, file and line.
 *
 * They are looked up by elfutils' libdw, which is loaded when checking starts,
 * so that a report waits for no loader, and no run that checks nothing has it.
 * Without it a line names the function and the object that it is in.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "runtime/check/state.h"

#if HAVE_LIBDW
#include <elfutils/libdwfl.h>

#define CALLS(X)                    \
    X(dwfl_begin)                   \
    X(dwfl_end)                     \
    X(dwfl_report_begin)            \
    X(dwfl_report_end)              \
    X(dwfl_linux_proc_report)       \
    X(dwfl_linux_proc_find_elf)     \
    X(dwfl_build_id_find_debuginfo) \
    X(dwfl_addrmodule)              \
    X(dwfl_module_addrname)         \
    X(dwfl_module_getsrc)           \
    X(dwfl_lineinfo)

static struct {
#define FIELD(name) __typeof__(name) *name;
    CALLS(FIELD)
    bool there;
} dw;

/* The debuginfo of other hosts is not asked for: that takes the network. */
static char *no_path;
static Dwfl_Callbacks callbacks = {.debuginfo_path = &no_path};

void check_lines_open(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
    void *f;

    if (!library)
        return;
#define FIND(name)                   \
    f = dlsym(library, #name);       \
    memcpy(&dw.name, &f, sizeof(f)); \
    all = all && f;
    CALLS(FIND)
    dw.there = all;
    callbacks.find_elf = dw.dwfl_linux_proc_find_elf;
    callbacks.find_debuginfo = dw.dwfl_build_id_find_debuginfo;
}

/* What this process has loaded now; NULL: cannot be said. */
static Dwfl *modules_open(void)
{
    Dwfl *dwfl = dw.there ? dw.dwfl_begin(&callbacks) : NULL;

    if (!dwfl)
        return NULL;
    dw.dwfl_report_begin(dwfl);
    if (dw.dwfl_linux_proc_report(dwfl, getpid()) ||
        dw.dwfl_report_end(dwfl, NULL, NULL)) {
        dw.dwfl_end(dwfl);
        return NULL;
    }
    return dwfl;
}

static void modules_close(Dwfl *dwfl)
{
    if (dwfl)
        dw.dwfl_end(dwfl);
}

/* The function and the line of @at; false: not known. */
static bool line_of(Dwfl *dwfl, uintptr_t at, const char **name_out,
                    const char **file_out, int *line_out)
{
    Dwfl_Module *module = dwfl ? dw.dwfl_addrmodule(dwfl, at) : NULL;
    Dwfl_Line *line = module ? dw.dwfl_module_getsrc(module, at) : NULL;

    *name_out = module ? dw.dwfl_module_addrname(module, at) : NULL;
    *file_out =
        line ? dw.dwfl_lineinfo(line, NULL, line_out, NULL, NULL, NULL) : NULL;
    return *name_out && *file_out;
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

static bool line_of(Dwfl *dwfl, uintptr_t at, const char **name_out,
                    const char **file_out, int *line_out)
{
    (void)dwfl, (void)at, (void)line_out;
    *name_out = *file_out = NULL;
    return false;
}
#endif

/* One look-up at a time: libdw need not be thread-safe. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

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

/* What the compiler cloned has a suffix, as walk.constprop.0. */
static int name_length(const char *name)
{
    return (int)(*name == '.' ? strlen(name) : strcspn(name, "."));
}

/* What calls a program's functions and is none. */
static bool is_outermost(const char *name)
{
    return name && (!strcmp(name, "start_thread") ||
                    !strncmp(name, "__libc_start", 12));
}

/* False: what is above is no program's. */
static bool add(struct check_text *text, Dwfl *dwfl, int number, uintptr_t at,
                uintptr_t shown)
{
    const char *name, *file;
    int line = 0;
    Dl_info info = {0};

    if (line_of(dwfl, at, &name, &file, &line)) {
        if (is_outermost(name))
            return false;
        check_add(text, "    #%d %.*s at %s:%d\n", number, name_length(name),
                  name, file, line);
        return strcmp(name, "main") != 0;
    }
    if (!dladdr((void *)at, &info) || !info.dli_fname)
        info.dli_fname = "?";
    if (!name)
        name = info.dli_sname;
    check_add(text, "    #%d %s [%p] in %s\n", number, name ? name : "?",
              (void *)shown, base_name(info.dli_fname));
    return !name || strcmp(name, "main") != 0;
}

void check_lines_add(struct check_text *text, const struct check_stack *stack,
                     bool fault)
{
    int frames = stack ? stack->frames : 0, from = 0;
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
    pthread_mutex_lock(&mutex);
    dwfl = modules_open();
    for (int i = from; i < frames; i++) {
        uintptr_t shown = (uintptr_t)stack->frame[i];
        /* A return address is behind its call. */
        uintptr_t at = shown - (fault && i == 0 ? 0 : 1);

        if (!shown || !add(text, dwfl, i - from, at, shown))
            break;
    }
    modules_close(dwfl);
    pthread_mutex_unlock(&mutex);
}
