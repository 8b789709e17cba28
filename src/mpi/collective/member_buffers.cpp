#include "mpi/collective/member_buffers.hpp"

#include "mpi/core/block.hpp"

#include <cstring>

namespace foretrace::mpi {
namespace {

std::uint64_t index_bytes(int members) {
  return (static_cast<std::uint64_t>(members) + 1) * sizeof(std::uint64_t);
}

}  // namespace

// In integers: MPI_BOTTOM is a null pointer.
std::byte* Pieces::at_offset(const void* buffer, MPI_Aint offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

Pieces::Pieces(const void* buffer, const int* counts, const int* displacements,
               const Datatype* type, int members)
    : members_(members), alike_(false) {
  each_.reserve(static_cast<std::size_t>(members));
  for (int i = 0; i < members; ++i) {
    each_.push_back(piece(nullptr, counts[i], type));
    each_.back().data = at_offset(buffer, static_cast<MPI_Aint>(displacements[i]) * type->extent);
  }
}

Piece Pieces::operator[](int member) const {
  if (!alike_) return each_[static_cast<std::size_t>(member)];
  Piece piece = first_;
  if (piece.type) piece.data = at_offset(first_.data, first_.count * first_.type->extent * member);
  return piece;
}

std::uint64_t Pieces::bytes() const {
  if (alike_) return first_.bytes() * static_cast<std::uint64_t>(members_);
  std::uint64_t total = 0;
  for (const Piece& piece : each_) total += piece.bytes();
  return total;
}

void Pieces::add_to(trace::Counts& counts) const {
  for (int i = 0; i < members_; ++i) counts.push_back(Bytes((*this)[i].bytes()));
}

void tell_counts(const Arguments& arguments, trace::Counts counts) {
  CollectiveCall& call = arguments.plan().call;
  // Two groups would have two lists.
  if (!arguments.inter() && trace::are_told(call.cost, counts)) call.counts = std::move(counts);
}

Block packed(const Piece& piece) {
  const std::uint64_t bytes = piece.bytes();
  Block block(bytes);
  if (bytes > 0) pack_out(piece.data, piece.count, *piece.type, block.data());
  return block;
}

Block packed(const Pieces& pieces) {
  // Pieces that are alike are elements in a row.
  if (pieces.alike()) {
    Piece all = pieces[0];
    all.count *= pieces.members();
    return packed(all);
  }
  const std::uint64_t data = pieces.bytes();
  if (data == 0) return Block();
  const std::uint64_t head = index_bytes(pieces.members());
  Block block(head + data);
  auto* index = reinterpret_cast<std::uint64_t*>(block.data());
  std::uint64_t at = head;
  for (int i = 0; i < pieces.members(); ++i) {
    const Piece piece = pieces[i];
    index[i] = at;
    if (piece.bytes() > 0) pack_out(piece.data, piece.count, *piece.type, block.data() + at);
    at += piece.bytes();
  }
  index[pieces.members()] = at;
  return block;
}

ByteSpan part_of(ByteSpan block, bool alike, int members, int member) {
  if (block.empty() || members == 0) return {};
  if (alike) {
    const std::size_t bytes = block.size() / static_cast<std::size_t>(members);
    return block.subspan(bytes * static_cast<std::size_t>(member), bytes);
  }
  const auto* index = reinterpret_cast<const std::uint64_t*>(block.data());
  return block.subspan(index[member], index[member + 1] - index[member]);
}

Outcome deliver(ByteSpan arrived, const Piece& place, int from) {
  if (arrived.empty()) return {};
  const std::uint64_t room = place.bytes();
  if (arrived.size() > room)
    return {MPI_ERR_TRUNCATE, std::to_string(arrived.size()) + " bytes from rank " +
                                  std::to_string(from) + ", but the receive arguments expect " +
                                  std::to_string(room)};
  unpack_in(arrived.data(), arrived.size(), place.data, place.count, *place.type);
  return {};
}

}  // namespace foretrace::mpi
