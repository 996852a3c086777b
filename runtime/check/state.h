/* state.h - what the files of runtime/check/ share. */
#ifndef DRASYNC_RUNTIME_CHECK_STATE_H
#define DRASYNC_RUNTIME_CHECK_STATE_H

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "runtime/check/check.h"
#include "runtime/wait.h"

/* --- Texts ---------------------------------------------------------------- */

/* Lines of a report; what does not fit is cut off. */
#define CHECK_TEXT_BYTES 16384

struct check_text {
    size_t used;
    char bytes[CHECK_TEXT_BYTES];
};

void check_add(struct check_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void check_print(const struct check_text *text);

/* --- Stacks (stack.c) ----------------------------------------------------- */

#define CHECK_FRAMES_MAX 24

/* Different stacks that are kept. */
#define CHECK_STACKS_MAX 65536

struct check_stack {
    uint64_t hash;
    uint32_t next; /* with the same bucket; 0: none */
    int frames;
    void *frame[CHECK_FRAMES_MAX];
};

/* The number of this thread's stack; 0: it could not be kept. */
uint32_t check_stack_here(void);
/* NULL for 0. */
const struct check_stack *check_stack_of(uint32_t number);
/* That of another thread, which waits in a signal's handler. */
void check_stack_at(ucontext_t *context, struct check_stack *out);

/* --- Lines of source (lines.c) -------------------------------------------- */

void check_lines_open(void);

/* Frames as lines; @fault: the first is where a fault was.  Leading frames in
 * our own libraries are left out, but then for the last of them. */
void check_lines_add(struct check_text *text, const struct check_stack *stack,
                     bool fault);

/* Add the name of the function or variable at @address; false: not known. */
bool check_symbol_add(struct check_text *text, uint64_t address);

/* --- What was done (notes.c) ---------------------------------------------- */

struct check_done {
    uint32_t stack;
    int32_t thread; /* 0: never done */
    int mode;
    bool given; /* of CHECK_GAVE: to another rank */
};

/* Open holds of a region whose places are kept. */
#define CHECK_OPEN_MAX 4

struct check_note {
    struct check_note *next;
    uint64_t address, incarnation;
    struct check_done done[CHECK_KINDS];
    uint32_t holds; /* taken and not given back, and where the first were: */
    struct check_done open[CHECK_OPEN_MAX];
    bool numbered; /* DRASYNC_MYRMICS=move: the program calls it by */
    uint32_t rid;  /* this number; */
    int to, line;  /* and where it was sent */
    const char *file;
    char name[DRASYNC_NAME_MAX + 1];
};

/* A copy of what is known of @address, in any life if @incarnation is 0. */
bool check_note_of(uint64_t address, uint64_t incarnation,
                   struct check_note *out);
/* The region that had @page when it was deleted here. */
bool check_gone_of(uint64_t page, uint64_t *address, uint64_t *incarnation);
/* Call @each for all notes. */
void check_notes_each(void (*each)(const struct check_note *note, void *arg),
                      void *arg);

/* --- Requests (requests.c) ------------------------------------------------- */

/* That began and did not end. */
struct check_request {
    struct check_request *next;
    const void *request;
    uint64_t region;
    struct check_done done; /* where it was asked, and for which mode */
};

/* @request has ended, if it is there. */
void check_request_gone(const void *request);
/* Call @each for all that are left, in order of stacks. */
void check_requests_each(void (*each)(const struct check_request *request,
                                      void *arg),
                         void *arg);

/* --- Addresses (pointers.c) ----------------------------------------------- */

/* With OPTIONS_CHECK_POINTERS: is @address of this process's own memory, as that
 * is now? */
bool check_points_out(const void *address);
/* What is at @address, in words, for this process. */
void check_add_mapping(struct check_text *text, uint64_t address);

/* --- Reports (report.c) --------------------------------------------------- */

struct check_fault {
    void *address;
    int mode; /* READ or WRITE; 0: cannot be told */
    int thread;
    ucontext_t *context;
};

enum check_verdict {
    CHECK_WAITS,
    CHECK_RETRY, /* it is in order, or goes on */
    CHECK_END,
};

enum check_verdict check_report(const struct check_fault *fault);
/* Has the report of the fault that is looked at been written? */
bool check_reported(void);
/* The report's last line, if the job ends with it, as DRASYNC_CHECK_ACTION says. */
bool check_add_last(struct check_text *text);
/* What the program calls the region at @address; @note may be NULL. */
void check_add_region(struct check_text *text, uint64_t address,
                      const struct check_note *note);
/* Where this rank took @region, as lines. */
void check_add_taken(struct check_text *text, uint64_t region);
/* Stack @who.stack of a rank, which is asked for it if need be; @may_ask: on
 * other nodes too. */
void check_add_stack(struct check_text *text, struct heap_who who,
                     bool may_ask);
/* Who of this node, but rank @but, has the region that has @address, and where it
 * was taken. */
void check_add_node(struct check_text *text, uint64_t address, int but);
void check_leaks(void);

/* --- Ranks and nodes ask each other (ask.c) ------------------------------- */

#define CHECK_ANSWER_BYTES 3500

enum check_box_state {
    CHECK_BOX_FREE,
    CHECK_BOX_WRITING, /* some rank is about to ask */
    CHECK_BOX_ASKED,
    CHECK_BOX_ANSWERED,
    CHECK_BOX_LEFT, /* who asked has gone: for the one that answers to free */
};

/* Of a rank, in control memory. */
struct check_box {
    struct doorbell fault;    /* for the thread that reports */
    struct doorbell question; /* for the one that answers */
    _Atomic uint32_t state;
    uint64_t region;
    uint32_t stack; /* or what is asked for: this one */
    char text[CHECK_ANSWER_BYTES];
} __attribute__((aligned(64)));

int check_boxes_new(void); /* on the leader */
struct check_box *check_box_of(int local);
/* Start to listen to other nodes. */
void check_ask_open(void);
/* Answer what others asked; on the thread that does nothing else, so that it
 * never waits for one that waits for it. */
void check_serve(void);
/* Ask rank @rank, another one of this node, where it took @region: the answer,
 * or false if none came in time. */
bool check_ask(int rank, uint64_t region, char text[CHECK_ANSWER_BYTES]);
/* Ask it for a stack of its. */
bool check_ask_stack(int rank, uint32_t stack, char text[CHECK_ANSWER_BYTES]);
/* The same of a rank of another node. */
bool check_ask_stack_there(int rank, uint32_t stack,
                           char text[CHECK_ANSWER_BYTES]);
/* Ask another node who has a region; false: it does not say so in time. */
bool check_ask_node(int node, uint64_t address, char text[CHECK_ANSWER_BYTES]);

/* --- Faults (fault.c) ----------------------------------------------------- */

int check_fault_start(void);
void check_fault_stop(void);
/* The program may have put its own handler in our place: come first again. */
void check_handler_keep(void);

extern struct check_hooks {
    check_look_fn *look;
    check_top_fn *top;
    check_managed_fn *managed;
    check_links_wanted_fn *links_wanted;
    check_links_fn *links;
    check_inside_fn *inside;
} check_hooks;

#endif /* DRASYNC_RUNTIME_CHECK_STATE_H */
