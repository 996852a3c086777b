/* start_page.h - the page in which the ranks of a node meet at the start. */
#ifndef DRASYNC_RUNTIME_START_PAGE_H
#define DRASYNC_RUNTIME_START_PAGE_H

struct start_facts;

/* What the leader makes and all ranks of its node open. */
enum start_file {
    START_DATA,
    START_CONTROL,
    START_WAKE, /* a pipe: runtime/messages/outbox.h */
    START_FILES,
};

/*
 * Hold a descriptor for the page, whose number others may be told.  -1 with
 * errno.
 */
int start_page_reserve(void);

/* On the leader, whose facts are @own: make the page, at @own->page_fd.  0, or an
 * error that has been said; then others hear of it as they do of the page. */
int start_page_make(const struct start_facts *own);

/* On the others: wait for the leader, whose facts these are, to make the page.
 * 0, or an error that has been said. */
int start_page_open(const struct start_facts *leader);

/* On the leader: @files are there, with all that is to be in them, or, with
 * @err, will not be. */
void start_page_fill(const int *files, int err);

/* On the others: wait for that; own descriptors of the @files.  0,
 * DRASYNC_EPEER: the leader cannot; or an error that has been said. */
int start_page_files(const struct start_facts *leader, int *files);

/* This rank has done its part, or could not: @err.  On the leader: wait for the
 * others of the node; the least error of any. */
int start_page_arrive(int err);

/* What the leader concludes, @err, on all ranks of the node.  Ends the page. */
int start_page_conclude(int err);

#endif /* DRASYNC_RUNTIME_START_PAGE_H */
