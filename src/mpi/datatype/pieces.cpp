#include "mpi_api/pieces.hpp"

#include <optional>

#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

struct Types {
  using Type = const Datatype*;

  static mpi_api::TypeContents<Type> contents(Type type) {
    mpi_api::TypeContents<Type> of;
    of.size = type->size;
    of.lb = type->lb;
    of.extent = type->extent;
    // Those of large counts count as lying together, as they do to the capture library.
    if (!type->contents || !type->contents->large_counts.empty()) return of;
    const TypeContents& own = *type->contents;
    of.combiner = own.combiner;
    of.integers = own.integers;
    of.addresses = own.addresses;
    of.types.assign(own.types.begin(), own.types.end());
    return of;
  }
  static void give_back(Type) {}
};

}  // namespace

std::uint16_t piece_of(MPI_Count count, const Datatype& type) {
  if ((type.basic && type.dense) || packed_bytes(count, type) < mpi_api::kLeastInPieces) return 0;
  std::optional<mpi_api::PieceLength>& known = layout_of(type).pieces;
  if (!known) {
    Types types;
    known = mpi_api::piece_length(types, &type);
  }
  return known->of(count);
}

}  // namespace foretrace::mpi
