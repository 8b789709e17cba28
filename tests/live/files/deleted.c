/* A file that is gone when it is closed is opened by all before. live: ranks 2 8 */
#include "name.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  for (int i = 0; i < 50; ++i) {
    MPI_File file;
    CHECK_OK(
        MPI_File_open(MPI_COMM_WORLD, name,
                      MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_close(&file));
  }
  return check_end();
}
