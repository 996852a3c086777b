/*
 * forbid_process_vm.h - for tests: a system that does not let one process copy
 * another's memory.
 */
#ifndef TESTS_FORBID_PROCESS_VM_H
#define TESTS_FORBID_PROCESS_VM_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define REFUSE(nr)                                 \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* For this thread and those it starts, from now on.  Where there are no filters
 * for system calls, the job ends with status 77. */
static inline void forbid(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_process_vm_writev),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        printf("cannot forbid: %s\n", strerror(errno));
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

#endif /* TESTS_FORBID_PROCESS_VM_H */
