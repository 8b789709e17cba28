// The buffers of collectives: the parts of them that belong to each member, and
// how these travel packed, one after the other, in a block.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/collective/collective.hpp"
#include "mpi/core/block.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::mpi {

// Buffers to send are never written to.
inline Piece piece(const void* buffer, MPI_Count count, const Datatype* type) {
  return {static_cast<std::byte*>(const_cast<void*>(buffer)), count, type};
}

// One piece for each of some members.
class Pieces {
 public:
  Pieces() = default;
  // All alike, one after the other in the buffer.
  Pieces(Piece first, int members) : first_(first), members_(members) {}
  // Of different counts, at displacements in elements.
  Pieces(const void* buffer, const int* counts, const int* displacements, const Datatype* type,
         int members);
  // Of different types, at displacements in bytes.
  template <class Displacement>
  Pieces(const void* buffer, const int* counts, const Displacement* displacements,
         const std::vector<Datatype*>& types, int members)
      : members_(members), alike_(false) {
    for (int i = 0; i < members; ++i) {
      const auto at = static_cast<std::size_t>(i);
      each_.push_back(piece(nullptr, counts[i], types[at]));
      each_.back().data = at_offset(buffer, displacements[i]);
    }
  }

  int members() const { return members_; }
  bool alike() const { return alike_; }
  Piece operator[](int member) const;
  // All of them, if they are alike; else nothing.
  Piece row() const {
    return alike_ ? Piece{first_.data, first_.count * members_, first_.type} : Piece();
  }
  std::uint64_t bytes() const;
  // Adds the bytes of each.
  void add_to(trace::Counts& counts) const;

 private:
  static std::byte* at_offset(const void* buffer, MPI_Aint offset);

  Piece first_;
  std::vector<Piece> each_;
  int members_ = 0;
  bool alike_ = true;
};

Block packed(const Piece& piece);
// All pieces; where they are not alike, after an index of their offsets.
Block packed(const Pieces& pieces);
// What packed(pieces) made for one of the members. `alike`: as the pieces were.
ByteSpan part_of(ByteSpan block, bool alike, int members, int member);

// Unpacks what arrived from `from` to its place, where it must fit.
Outcome deliver(ByteSpan arrived, const Piece& place, int from);

// What the bytes of the call, which are known, do not tell.
void tell_counts(const Arguments& arguments, trace::Counts counts);

// By whom the bytes of a call are counted: its communicator's members, or those
// that the call deals with.
inline mpi_api::CommShape shape_of_members(const Arguments& arguments) {
  return {arguments.members(), arguments.comm()->rank};
}
inline mpi_api::CommShape shape_of_partners(const Arguments& arguments) {
  return {arguments.partners(), arguments.comm()->rank};
}

}  // namespace foretrace::mpi
