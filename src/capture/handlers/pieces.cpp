#include "capture/handlers/pieces.hpp"

#include <algorithm>
#include <array>

#include "mpi_api/pieces.hpp"

namespace foretrace::capture {
namespace {

struct Types {
  using Type = MPI_Datatype;

  mpi_api::TypeContents<Type> contents(Type type) const {
    mpi_api::TypeContents<Type> of;
    MPI_Count lb = 0;
    MPI_Count extent = 0;
    PMPI_Type_get_extent_x(type, &lb, &extent);
    of.size = static_cast<std::int64_t>(mpi_api::type_bytes(type));
    of.lb = lb;
    of.extent = extent;
    int integers = 0;
    int addresses = 0;
    int types = 0;
#if MPI_VERSION >= 4
    // Types of large counts have no other contents: they count as lying together.
    MPI_Count many[4] = {};
    PMPI_Type_get_envelope_c(type, &many[0], &many[1], &many[2], &many[3], &of.combiner);
    if (many[2] > 0) return of;
#endif
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &of.combiner);
    if (types == 0) return of;
    of.integers.resize(static_cast<std::size_t>(integers));
    of.addresses.resize(static_cast<std::size_t>(addresses));
    of.types.resize(static_cast<std::size_t>(types));
    PMPI_Type_get_contents(type, integers, addresses, types, of.integers.data(),
                           of.addresses.data(), of.types.data());
    return of;
  }

  // What has contents is a copy that is ours.
  void give_back(Type type) const {
    int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
    MPI_Count numbers[4] = {};
    PMPI_Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &combiner);
#else
    int numbers[3] = {};
    PMPI_Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &combiner);
#endif
    const bool is_named = combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
                          combiner == MPI_COMBINER_F90_COMPLEX ||
                          combiner == MPI_COMBINER_F90_INTEGER;
    if (!is_named) PMPI_Type_free(&type);
  }
};

// The usual ones, which nobody can free, lie together.
bool is_usual(MPI_Datatype type) {
  const std::array usual{MPI_BYTE, MPI_CHAR,  MPI_INT,     MPI_DOUBLE,           MPI_FLOAT,
                         MPI_LONG, MPI_SHORT, MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_REAL};
  return std::ranges::find(usual, type) != usual.end();
}

// A type takes what is known of it with it when it is freed, and its handle serves another.
const mpi_api::PieceLength& known_of(MPI_Datatype type) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(
        MPI_TYPE_NULL_COPY_FN,
        [](MPI_Datatype, int, void* known, void*) {
          delete static_cast<mpi_api::PieceLength*>(known);
          return MPI_SUCCESS;
        },
        &made, nullptr);
    return made;
  }();
  void* known = nullptr;
  int there = 0;
  PMPI_Type_get_attr(type, key, &known, &there);
  if (there) return *static_cast<mpi_api::PieceLength*>(known);
  Types types;
  auto* made = new mpi_api::PieceLength(mpi_api::piece_length(types, type));
  PMPI_Type_set_attr(type, key, made);
  return *made;
}

}  // namespace

std::uint16_t piece_of(const Data& data, Bytes bytes) {
  if (bytes.count < mpi_api::kLeastInPieces || is_usual(data.type)) return 0;
  return known_of(data.type).of(data.count);
}

}  // namespace foretrace::capture
