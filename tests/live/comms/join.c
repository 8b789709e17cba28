/* Two processes that have a socket in common. live: ranks 2 4 */
/* live: not real openmpi */
/* live: not real mpich */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* Between the ranks of each pair. */
static int connected(int partner) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int made = socket(AF_INET, SOCK_STREAM, 0);
  if (check_rank < partner) {
    CHECK_EQUAL(bind(made, (struct sockaddr*)&address, length), 0);
    CHECK_EQUAL(listen(made, 1), 0);
    getsockname(made, (struct sockaddr*)&address, &length);
    MPI_Send(&address.sin_port, 1, MPI_SHORT, partner, 0, MPI_COMM_WORLD);
    int other = accept(made, 0, 0);
    close(made);
    return other;
  }
  MPI_Recv(&address.sin_port, 1, MPI_SHORT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(connect(made, (struct sockaddr*)&address, length), 0);
  return made;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int partner = check_rank ^ 1;
  MPI_Comm inter;
  const int descriptor = connected(partner);
  CHECK_OK(MPI_Comm_join(descriptor, &inter));
  int size, got = -1;
  MPI_Comm_remote_size(inter, &size);
  CHECK_EQUAL(size, 1);
  MPI_Sendrecv(&check_rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, partner);
  MPI_Comm_disconnect(&inter);
  close(descriptor);
  /* Nobody is there. */
  CHECK_CLASS(MPI_Comm_join(descriptor, &inter), MPI_ERR_OTHER);
  CHECK(inter == MPI_COMM_NULL);
  return check_end();
}
