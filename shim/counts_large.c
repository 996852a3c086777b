/*
 * What MPI 4 can send by: not counted (counts.h).
 */
#include "shim/counts_next.h"

#if MPI_VERSION >= 4

#define BLOCKING                                                              \
    (const void *buffer, MPI_Count count, MPI_Datatype type, int to, int tag, \
     MPI_Comm comm)
#define STARTED                                                               \
    (const void *buffer, MPI_Count count, MPI_Datatype type, int to, int tag, \
     MPI_Comm comm, MPI_Request *request)

UNSURE(MPI_Send_c, BLOCKING, (buffer, count, type, to, tag, comm))
UNSURE(MPI_Bsend_c, BLOCKING, (buffer, count, type, to, tag, comm))
UNSURE(MPI_Rsend_c, BLOCKING, (buffer, count, type, to, tag, comm))
UNSURE(MPI_Ssend_c, BLOCKING, (buffer, count, type, to, tag, comm))
UNSURE(MPI_Isend_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Ibsend_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Irsend_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Issend_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Send_init_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Bsend_init_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Rsend_init_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Ssend_init_c, STARTED, (buffer, count, type, to, tag, comm, request))
UNSURE(MPI_Sendrecv_c,
       (const void *out, MPI_Count out_count, MPI_Datatype out_type, int to,
        int out_tag, void *in, MPI_Count in_count, MPI_Datatype in_type,
        int from, int in_tag, MPI_Comm comm, MPI_Status *status),
       (out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
        in_tag, comm, status))
UNSURE(MPI_Isendrecv,
       (const void *out, int out_count, MPI_Datatype out_type, int to,
        int out_tag, void *in, int in_count, MPI_Datatype in_type, int from,
        int in_tag, MPI_Comm comm, MPI_Request *request),
       (out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
        in_tag, comm, request))
UNSURE(MPI_Isendrecv_c,
       (const void *out, MPI_Count out_count, MPI_Datatype out_type, int to,
        int out_tag, void *in, MPI_Count in_count, MPI_Datatype in_type,
        int from, int in_tag, MPI_Comm comm, MPI_Request *request),
       (out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
        in_tag, comm, request))
UNSURE(MPI_Sendrecv_replace_c,
       (void *buffer, MPI_Count count, MPI_Datatype type, int to, int out_tag,
        int from, int in_tag, MPI_Comm comm, MPI_Status *status),
       (buffer, count, type, to, out_tag, from, in_tag, comm, status))
UNSURE(MPI_Isendrecv_replace,
       (void *buffer, int count, MPI_Datatype type, int to, int out_tag,
        int from, int in_tag, MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, to, out_tag, from, in_tag, comm, request))
UNSURE(MPI_Isendrecv_replace_c,
       (void *buffer, MPI_Count count, MPI_Datatype type, int to, int out_tag,
        int from, int in_tag, MPI_Comm comm, MPI_Request *request),
       (buffer, count, type, to, out_tag, from, in_tag, comm, request))
UNSURE(MPI_Psend_init,
       (const void *buffer, int partitions, MPI_Count count, MPI_Datatype type,
        int to, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request),
       (buffer, partitions, count, type, to, tag, comm, info, request))

#else

typedef int counts_nothing_here;

#endif
