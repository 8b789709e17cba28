// MPI_Type_create_subarray and MPI_Type_create_darray.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "live_impl.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

int out_of_range(const char* array, int dimension, MPI_Count value, MPI_Count least,
                 MPI_Count most) {
  return raise(MPI_ERR_ARG, std::string(array) + "[" + std::to_string(dimension) + "] is " +
                                std::to_string(value) + ", expected " + std::to_string(least) +
                                " to " + std::to_string(most));
}

// The part of an array that is taken, made dimension by dimension, the one that
// runs fastest first.
class ArrayPart {
 public:
  explicit ArrayPart(Datatype& old) : old_(old), map_(layout_of(old).map), stride_(old.extent) {}

  // Indices first, first + 1, ... of a dimension of this size.
  void take(MPI_Count size, MPI_Count first, MPI_Count count) {
    offset_ += first * stride_;
    span(0, count - 1);
    map_ = map_of_repeat(count, stride_, std::move(map_));
    empty_ = empty_ || count <= 0;
    stride_ *= size;
  }

  // Blocks of `block` indices, of which this process has every `processes`-th,
  // beginning with number `mine`.
  void take_cyclic(MPI_Count size, MPI_Count block, MPI_Count processes, MPI_Count mine) {
    const MPI_Count round = block * processes;
    const MPI_Count first = mine * block;
    const MPI_Count left = std::max<MPI_Count>(0, size - first);
    const MPI_Count whole = left / round + (left % round >= block ? 1 : 0);
    const MPI_Count rest = left % round >= block ? 0 : left % round;
    if (whole + rest == 0) return take(size, 0, 0);
    offset_ += first * stride_;
    std::vector<TypeMap::Field> fields;
    if (whole > 0)
      fields.push_back({0, whole, round * stride_, map_of_repeat(block, stride_, map_)});
    if (rest > 0) fields.push_back({whole * round * stride_, rest, stride_, map_});
    span(0, rest > 0 ? whole * round + rest - 1 : (whole - 1) * round + block - 1);
    map_ = map_of_fields(std::move(fields));
    stride_ *= size;
  }

  MPI_Datatype finish(TypeBuilder& builder) {
    if (!empty_) builder.place(old_, offset_ + lowest_, offset_ + highest_);
    builder.resize(0, stride_);
    TypeMapRef map = std::move(map_);
    if (offset_ != 0) map = map_of_fields({{offset_, 1, 0, std::move(map)}});
    return builder.finish(std::move(map));
  }

 private:
  void span(MPI_Count first, MPI_Count last) {
    lowest_ += std::min(first * stride_, last * stride_);
    highest_ += std::max(first * stride_, last * stride_);
  }

  Datatype& old_;
  TypeMapRef map_;
  MPI_Count stride_;  // of the next dimension
  MPI_Count offset_ = 0;
  MPI_Count lowest_ = 0, highest_ = 0;  // of elements, from offset_ on
  bool empty_ = false;
};

// The number of the dimension that runs i-th fastest.
int dimension(int i, int ndims, int order) {
  return order == MPI_ORDER_FORTRAN ? i : ndims - 1 - i;
}

int check_array(int ndims, int order, const void* newtype) {
  if (int error = check_result(newtype, "newtype")) return error;
  if (ndims < 1)
    return raise(MPI_ERR_ARG, std::to_string(ndims) + " dimensions, expected 1 or more");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return raise(MPI_ERR_ARG, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
  return MPI_SUCCESS;
}

template <class Number>
int subarray(int ndims, const Number* sizes, const Number* subsizes, const Number* starts,
             int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  if (int error = check_array(ndims, order, newtype)) return error;
  if (!sizes || !subsizes || !starts) return raise(MPI_ERR_ARG, "an array is a null pointer");
  for (int i = 0; i < ndims; ++i) {
    if (sizes[i] < 1)
      return out_of_range("sizes", i, sizes[i], 1, std::numeric_limits<Number>::max());
    if (subsizes[i] < 1 || subsizes[i] > sizes[i])
      return out_of_range("subsizes", i, subsizes[i], 1, sizes[i]);
    if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
      return out_of_range("starts", i, starts[i], 0, sizes[i] - subsizes[i]);
  }
  int error = MPI_SUCCESS;
  Datatype* old = old_type(oldtype, error);
  if (!old) return error;

  TypeBuilder builder(MPI_COMBINER_SUBARRAY, sizeof(Number) > sizeof(int));
  builder.plain(ndims).integers(sizes, ndims).integers(subsizes, ndims).integers(starts, ndims);
  builder.plain(order).type(*old);
  ArrayPart part(*old);
  for (int i = 0; i < ndims; ++i) {
    const int d = dimension(i, ndims, order);
    part.take(sizes[d], starts[d], subsizes[d]);
  }
  *newtype = part.finish(builder);
  return MPI_SUCCESS;
}

// How a dimension is dealt out; an error class and message where that is impossible.
template <class Number>
int check_distribution(int i, Number gsize, int distribution, int argument, int processes) {
  const std::string where = " in dimension " + std::to_string(i);
  if (gsize < 1) return out_of_range("gsizes", i, gsize, 1, std::numeric_limits<Number>::max());
  if (processes < 1)
    return out_of_range("psizes", i, processes, 1, std::numeric_limits<int>::max());
  if (distribution == MPI_DISTRIBUTE_NONE) {
    if (processes == 1) return MPI_SUCCESS;
    return raise(MPI_ERR_ARG, "MPI_DISTRIBUTE_NONE over " + std::to_string(processes) +
                                  " processes" + where + ", expected 1");
  }
  if (distribution != MPI_DISTRIBUTE_BLOCK && distribution != MPI_DISTRIBUTE_CYCLIC)
    return raise(MPI_ERR_ARG, "no such distribution" + where);
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) return MPI_SUCCESS;
  if (argument < 1) return out_of_range("dargs", i, argument, 1, std::numeric_limits<int>::max());
  if (distribution == MPI_DISTRIBUTE_BLOCK && MPI_Count{argument} * processes < gsize)
    return raise(MPI_ERR_ARG,
                 "blocks of " + std::to_string(argument) + " do not cover the array" + where);
  return MPI_SUCCESS;
}

template <class Number>
int darray(int size, int rank, int ndims, const Number* gsizes, const int* distributions,
           const int* arguments, const int* psizes, int order, MPI_Datatype oldtype,
           MPI_Datatype* newtype) {
  if (int error = check_array(ndims, order, newtype)) return error;
  if (!gsizes || !distributions || !arguments || !psizes)
    return raise(MPI_ERR_ARG, "an array is a null pointer");
  if (size < 1 || rank < 0 || rank >= size)
    return raise(MPI_ERR_ARG, "rank " + std::to_string(rank) + " of " + std::to_string(size));
  MPI_Count processes = 1;
  for (int i = 0; i < ndims; ++i) {
    if (int error = check_distribution(i, gsizes[i], distributions[i], arguments[i], psizes[i]))
      return error;
    processes *= psizes[i];
  }
  if (processes != size)
    return raise(MPI_ERR_ARG, "the process grid has " + std::to_string(processes) +
                                  " places, expected " + std::to_string(size));
  int error = MPI_SUCCESS;
  Datatype* old = old_type(oldtype, error);
  if (!old) return error;

  // The process grid is in C's order whatever the array's is (MPI 3.1, 4.1.4).
  std::vector<MPI_Count> mine(static_cast<std::size_t>(ndims));
  for (int i = ndims - 1, rest = rank; i >= 0; --i) {
    mine[static_cast<std::size_t>(i)] = rest % psizes[i];
    rest /= psizes[i];
  }

  TypeBuilder builder(MPI_COMBINER_DARRAY, sizeof(Number) > sizeof(int));
  builder.plain(size).plain(rank).plain(ndims).integers(gsizes, ndims);
  builder.plains(distributions, ndims).plains(arguments, ndims).plains(psizes, ndims);
  builder.plain(order).type(*old);
  ArrayPart part(*old);
  for (int i = 0; i < ndims; ++i) {
    const int d = dimension(i, ndims, order);
    const MPI_Count place = mine[static_cast<std::size_t>(d)];
    const bool by_default = arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
    if (distributions[d] == MPI_DISTRIBUTE_CYCLIC) {
      part.take_cyclic(gsizes[d], by_default ? 1 : arguments[d], psizes[d], place);
      continue;
    }
    MPI_Count block = gsizes[d];
    if (distributions[d] == MPI_DISTRIBUTE_BLOCK)
      block = by_default ? (MPI_Count{gsizes[d]} + psizes[d] - 1) / psizes[d] : arguments[d];
    const MPI_Count first = block * place;
    const MPI_Count count = std::clamp<MPI_Count>(gsizes[d] - first, 0, block);
    part.take(gsizes[d], first, count);
  }
  *newtype = part.finish(builder);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[],
                         int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return subarray(ndims, sizes, subsizes, starts, order, oldtype, newtype);
}

int Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[],
                       const int dargs[], const int psizes[], int order, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  return darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype);
}

#if MPI_VERSION >= 4
int Type_create_subarray_c(int ndims, const MPI_Count sizes[], const MPI_Count subsizes[],
                           const MPI_Count starts[], int order, MPI_Datatype oldtype,
                           MPI_Datatype* newtype) {
  return subarray(ndims, sizes, subsizes, starts, order, oldtype, newtype);
}

int Type_create_darray_c(int size, int rank, int ndims, const MPI_Count gsizes[],
                         const int distribs[], const int dargs[], const int psizes[], int order,
                         MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
