#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "mpi/datatype/external.hpp"
#include "mpi/io/state.hpp"
#include "mpi/onesided/mutex.hpp"

namespace foretrace::mpi {
namespace {

// One system call moves at most this much.
constexpr std::uint64_t kMost = 1 << 30;

// transfer(done, most, place): a pread or a pwrite, from the byte `done` of the piece on.
template <class Transfer>
Moved move_piece(MPI_Offset place, std::uint64_t bytes, Transfer transfer) {
  Moved moved;
  while (moved.bytes < bytes) {
    const ssize_t count = transfer(moved.bytes, std::min(bytes - moved.bytes, kMost),
                                   place + static_cast<MPI_Offset>(moved.bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) moved.error = errno;
    if (count <= 0) break;
    moved.bytes += static_cast<std::uint64_t>(count);
  }
  return moved;
}

Moved read_piece(int descriptor, MPI_Offset place, std::byte* out, std::uint64_t bytes) {
  return move_piece(place, bytes, [=](std::uint64_t done, std::uint64_t most, MPI_Offset at) {
    return ::pread(descriptor, out + done, most, at);
  });
}

Moved write_piece(int descriptor, MPI_Offset place, const std::byte* in, std::uint64_t bytes) {
  return move_piece(place, bytes, [=](std::uint64_t done, std::uint64_t most, MPI_Offset at) {
    return ::pwrite(descriptor, in + done, most, at);
  });
}

template <class Piece>
Moved move_stream(const FileState& state, std::uint64_t stream, std::uint64_t bytes,
                  Piece&& piece) {
  Moved moved;
  std::optional<SharedMutex> hold;
  if (state.atomic) hold.emplace(state.shared);
  state.view.for_each_piece(stream, bytes, [&](MPI_Offset place, std::uint64_t length) {
    const Moved now = piece(place, moved.bytes, length);
    moved.bytes += now.bytes;
    moved.error = now.error;
    return now.bytes == length;
  });
  return moved;
}

}  // namespace

MPI_Offset View::place_of(std::uint64_t stream) const {
  if (runs.empty()) return displacement;
  if (!has_holes) return displacement + runs[0].at + static_cast<MPI_Offset>(stream);
  const auto size = static_cast<std::uint64_t>(filetype->size);
  const auto tile = static_cast<MPI_Offset>(stream / size);
  const std::uint64_t within = stream % size;
  const auto run = std::prev(
      std::upper_bound(runs.begin(), runs.end(), within,
                       [](std::uint64_t value, const Run& each) { return value < each.before; }));
  return displacement + tile * static_cast<MPI_Offset>(filetype->extent) + run->at +
         static_cast<MPI_Offset>(within - run->before);
}

std::uint64_t View::stream_before(MPI_Offset end) const {
  if (runs.empty() || end <= displacement + runs[0].at) return 0;
  if (!has_holes) return static_cast<std::uint64_t>(end - displacement - runs[0].at);
  const auto extent = static_cast<MPI_Offset>(filetype->extent);
  if (extent <= 0) return 0;
  // Whole filetypes, then what of the next ones lies before the end: their data
  // may reach beyond their extent.
  const MPI_Offset reach = runs.back().at + static_cast<MPI_Offset>(runs.back().length);
  MPI_Offset tile = std::max<MPI_Offset>((end - displacement - reach) / extent, 0);
  std::uint64_t bytes =
      static_cast<std::uint64_t>(tile) * static_cast<std::uint64_t>(filetype->size);
  for (; displacement + tile * extent + runs[0].at < end; ++tile)
    for (const Run& run : runs) {
      const MPI_Offset begin = displacement + tile * extent + run.at;
      if (begin < end) bytes += std::min(run.length, static_cast<std::uint64_t>(end - begin));
    }
  return bytes;
}

void View::for_each_piece(std::uint64_t stream, std::uint64_t bytes,
                          const std::function<bool(MPI_Offset, std::uint64_t)>& visit) const {
  if (bytes == 0 || runs.empty()) return;
  if (!has_holes) {
    visit(place_of(stream), bytes);
    return;
  }
  const auto size = static_cast<std::uint64_t>(filetype->size);
  MPI_Offset tile = displacement + static_cast<MPI_Offset>(stream / size) *
                                       static_cast<MPI_Offset>(filetype->extent);
  std::uint64_t within = stream % size;
  auto run = std::prev(
      std::upper_bound(runs.begin(), runs.end(), within,
                       [](std::uint64_t value, const Run& each) { return value < each.before; }));
  MPI_Offset place = 0;  // of the piece that is being joined
  std::uint64_t length = 0;
  while (bytes > 0) {
    const std::uint64_t skipped = within - run->before;
    const MPI_Offset begin = tile + run->at + static_cast<MPI_Offset>(skipped);
    const std::uint64_t part = std::min(run->length - skipped, bytes);
    if (length > 0 && place + static_cast<MPI_Offset>(length) != begin) {
      if (!visit(place, length)) return;
      length = 0;
    }
    if (length == 0) place = begin;
    length += part;
    bytes -= part;
    within += part;
    if (++run == runs.end()) {
      run = runs.begin();
      within = 0;
      tile += static_cast<MPI_Offset>(filetype->extent);
    }
  }
  visit(place, length);
}

bool keeps_sizes(MPI_Count count, const Datatype& type) {
  return external_bytes(count, type) == packed_bytes(count, type);
}

void set_view(View& view, MPI_Offset displacement, Datatype* etype, Datatype* filetype) {
  retain(etype);
  retain(filetype);
  release(view.etype);
  release(view.filetype);
  view.displacement = displacement;
  view.etype = etype;
  view.filetype = filetype;
  view.runs.clear();
  std::uint64_t before = 0;
  for_each_run(1, *filetype, [&](MPI_Aint at, std::uint64_t length) {
    if (length == 0) return;
    if (!view.runs.empty() &&
        view.runs.back().at + static_cast<MPI_Aint>(view.runs.back().length) == at)
      view.runs.back().length += length;
    else
      view.runs.push_back({.at = at, .length = length, .before = before});
    before += length;
  });
  view.has_holes =
      view.runs.size() != 1 || static_cast<MPI_Count>(view.runs[0].length) != filetype->extent;
}

Moved read_stream(const FileState& state, std::uint64_t stream, std::byte* out,
                  std::uint64_t bytes) {
  return move_stream(state, stream, bytes,
                     [&](MPI_Offset place, std::uint64_t done, std::uint64_t length) {
                       return read_piece(state.descriptor, place, out + done, length);
                     });
}

Moved write_stream(const FileState& state, std::uint64_t stream, const std::byte* in,
                   std::uint64_t bytes) {
  return move_stream(state, stream, bytes,
                     [&](MPI_Offset place, std::uint64_t done, std::uint64_t length) {
                       return write_piece(state.descriptor, place, in + done, length);
                     });
}

}  // namespace foretrace::mpi
