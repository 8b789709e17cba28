#include <mpi.h>

#include <memory>

#include "base/error.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/kept.hpp"

namespace foretrace::measure {
namespace {

using SharedFile = std::shared_ptr<Kept<MPI_File>>;

// Errors on files come back to the caller; all else ends the program by itself.
void check(int status, const std::string& path) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(path + ": " + std::string(text, static_cast<std::size_t>(length)) +
              "; the file functions are measured there");
}

void open_file(MPI_Comm comm, const std::string& path, MPI_File* file) {
  check(MPI_File_open(comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, file), path);
}

using Transfer = int (*)(MPI_File, MPI_Offset, char*, int);

// Every rank has `bytes` of its own in the file, rank after rank.
Experiment transfer(const char* name, const Group& group, std::uint64_t bytes, bool writes,
                    Buffers& buffers, const SharedFile& file, const std::string& path,
                    Transfer call) {
  const auto open = [=](MPI_File* made) { open_file(group.comm, path, made); };
  const auto place = static_cast<MPI_Offset>(bytes) * group.rank;
  return {{name},
          [=, &buffers] {
            file->get(open);
            buffers.next(writes ? bytes : 0, writes ? 0 : bytes);
          },
          [=, &buffers](std::int64_t entry, std::int64_t, Span* spans) {
            char* data = writes ? buffers.send() : buffers.recv();
            const int status = call(file->get(open), place, data, static_cast<int>(bytes));
            spans[0] = {entry, now_ns()};
            check(status, path);
          }};
}

}  // namespace

std::vector<Experiment> file_experiments(const Group& group, std::uint64_t bytes, Buffers& buffers,
                                         const std::string& path) {
  const auto file = std::make_shared<Kept<MPI_File>>(MPI_File_close);
  const auto experiment = [&](const char* name, bool writes, Transfer call) {
    return transfer(name, group, bytes, writes, buffers, file, path, call);
  };
  return {experiment("file_write_at", true,
                     [](MPI_File f, MPI_Offset at, char* data, int n) {
                       return MPI_File_write_at(f, at, data, n, MPI_CHAR, MPI_STATUS_IGNORE);
                     }),
          experiment("file_write_at_all", true,
                     [](MPI_File f, MPI_Offset at, char* data, int n) {
                       return MPI_File_write_at_all(f, at, data, n, MPI_CHAR, MPI_STATUS_IGNORE);
                     }),
          experiment("file_read_at", false,
                     [](MPI_File f, MPI_Offset at, char* data, int n) {
                       return MPI_File_read_at(f, at, data, n, MPI_CHAR, MPI_STATUS_IGNORE);
                     }),
          experiment("file_read_at_all", false, [](MPI_File f, MPI_Offset at, char* data, int n) {
            return MPI_File_read_at_all(f, at, data, n, MPI_CHAR, MPI_STATUS_IGNORE);
          })};
}

std::vector<Experiment> file_opening_experiments(const Group& group, const std::string& path) {
  return {{{"file_open", "file_close"},
           [] {},
           [=](std::int64_t entry, std::int64_t, Span* spans) {
             MPI_File file;
             open_file(group.comm, path, &file);
             const std::int64_t opened = now_ns();
             const int status = MPI_File_close(&file);
             spans[0] = {entry, opened};
             spans[1] = {opened, now_ns()};
             check(status, path);
           }}};
}

}  // namespace foretrace::measure
