/*
 * Over what does MPI run?  Each rank has a TCP connection in an epoll set that is
 * none of MPI's, as the libraries of some launchers have.  Any number of ranks.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "native_check.h"
#include "runtime/rma/rma.h"

/* Stays until the end, silent after its first byte. */
static void connect_to_oneself(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *at = (struct sockaddr *)&address;
    socklen_t bytes = sizeof(address);
    struct epoll_event readable = {.events = EPOLLIN};
    int listens = socket(AF_INET, SOCK_STREAM, 0), accepted;
    int connected = socket(AF_INET, SOCK_STREAM, 0), set = epoll_create1(0);
    char byte = 1;

    CHECK(!bind(listens, at, bytes) && !listen(listens, 1) &&
          !getsockname(listens, at, &bytes) && !connect(connected, at, bytes));
    accepted = accept(listens, NULL, NULL);
    CHECK(accepted >= 0 &&
          !epoll_ctl(set, EPOLL_CTL_ADD, connected, &readable));
    CHECK(write(accepted, &byte, 1) == 1 && read(connected, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    connect_to_oneself();
    check_start_threads(&argc, &argv);
    OK(rma_enter());
    if (check_rank == 0)
        printf("MPI runs over %s\n",
               rma_far_used() ? "sockets" : "something else");
    return check_end("sockets");
}
