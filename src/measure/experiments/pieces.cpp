// Messages whose data does not lie together in memory, where it is sent or at both ends, and beside
// them the same bytes in one piece: two ranks exchange them, as programs do with the edges of their
// parts.
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "measure/core/functions.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/pair.hpp"

namespace foretrace::measure {
namespace {

// Of a column of a matrix, of a small struct, of a row of a block.
constexpr std::uint64_t kLengths[] = {8, 64, 512};

// From piece to piece: another cache line at least.
std::uint64_t stride_of(std::uint64_t length) {
  return std::max<std::uint64_t>(2 * length, 64);
}

using SharedType = std::shared_ptr<MPI_Datatype>;

// Doubles, and a part of a cube: MPICH handles bytes in pieces two to four times as slowly as
// doubles, and long messages of one row of pieces (MPI_Type_vector) four times as slowly as those
// of several rows.
SharedType make_type(std::uint64_t bytes, std::uint64_t length) {
  constexpr int kDouble = sizeof(double);
  constexpr int kRow = 8;  // pieces
  const int pieces = static_cast<int>(bytes / length);
  const int row = pieces % kRow == 0 ? kRow : pieces;
  const int wanted[] = {static_cast<int>(length) / kDouble, row, pieces / row};
  const int sizes[] = {static_cast<int>(stride_of(length)) / kDouble, wanted[1], wanted[2]};
  constexpr int kStarts[] = {0, 0, 0};
  auto* type = new MPI_Datatype;
  MPI_Type_create_subarray(3, sizes, wanted, kStarts, MPI_ORDER_FORTRAN, MPI_DOUBLE, type);
  MPI_Type_commit(type);
  return {type, [](MPI_Datatype* made) {
            MPI_Type_free(made);
            delete made;
          }};
}

// `type`: of the data in pieces (nullptr: it lies together), which is received so where `both`.
Experiment exchange(const std::string& name, const Pair& pair, const SharedType& type, bool both,
                    std::uint64_t room) {
  return {{std::string(kPiecesPrefix) + name},
          [pair, room] { pair.buffers.next(room, room); },
          [=](std::int64_t entry, std::int64_t, Span* spans) {
            const auto count = [&](bool in_pieces) { return in_pieces ? 1 : pair.count; };
            const auto of = [&](bool in_pieces) { return in_pieces ? *type : MPI_BYTE; };
            const bool sent = type != nullptr;
            const bool received = sent && both;
            MPI_Sendrecv(pair.out(), count(sent), of(sent), pair.peer, Pair::kTag, pair.in(),
                         count(received), of(received), pair.peer, Pair::kTag, pair.comm,
                         MPI_STATUS_IGNORE);
            spans[0] = {entry, now_ns()};
          }};
}

}  // namespace

std::vector<Experiment> pieces_experiments(const Group& group, std::uint64_t bytes,
                                           Buffers& buffers) {
  const Pair pair = pair_of(group, bytes, buffers);
  std::vector<Experiment> all{exchange("together", pair, nullptr, false, bytes)};
  for (const std::uint64_t length : kLengths) {
    const std::uint64_t room = bytes / length * stride_of(length);
    if (bytes < 2 * length || bytes % length != 0 || room > buffers.largest()) continue;
    const SharedType type = make_type(bytes, length);
    for (const bool both : {false, true})
      all.push_back(
          exchange((both ? "both/" : "send/") + std::to_string(length), pair, type, both, room));
  }
  return all;
}

}  // namespace foretrace::measure
