// Reduction operations: their handles, and how a call becomes a loop over numbers.
#include <climits>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <string>

#include "base/called_back.hpp"
#include "live_impl.hpp"
#include "mpi/collective/op_loops.hpp"
#include "mpi/core/line.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

struct PredefinedOp {
  MPI_Op handle;
  Operation operation;
};

const PredefinedOp kOps[] = {
    {MPI_MAX, Operation::max},         {MPI_MIN, Operation::min},
    {MPI_SUM, Operation::sum},         {MPI_PROD, Operation::prod},
    {MPI_LAND, Operation::land},       {MPI_BAND, Operation::band},
    {MPI_LOR, Operation::lor},         {MPI_BOR, Operation::bor},
    {MPI_LXOR, Operation::lxor},       {MPI_BXOR, Operation::bxor},
    {MPI_MINLOC, Operation::minloc},   {MPI_MAXLOC, Operation::maxloc},
    {MPI_REPLACE, Operation::replace}, {MPI_NO_OP, Operation::no_op},
};

alignas(Op) std::byte objects[std::size(kOps) * sizeof(Op)];

bool is_users(const Op& op) {
#if MPI_VERSION >= 4
  if (op.large_function) return true;
#endif
  return op.function || op.foreign;
}

// The predefined type that a type stands for: itself, the one that
// MPI_Type_create_f90_* chose, or what was duplicated.
const BasicType* stands_for(const Datatype& type) {
  const Datatype* original = &type;
  while (!original->basic && original->contents) {
    switch (original->contents->combiner) {
      case MPI_COMBINER_DUP:
        original = original->contents->types[0];
        continue;
      case MPI_COMBINER_F90_REAL:
      case MPI_COMBINER_F90_COMPLEX:
      case MPI_COMBINER_F90_INTEGER:
        return layout_of(*original).map->only;
      default:
        return nullptr;
    }
  }
  return original->basic;
}

Loop loop_of(const Op& op, const BasicType& basic) {
  return loop_of(static_cast<Operation>(op.which), basic.value, basic.index);
}

void call_users(const Op& op, const void* in, void* inout, MPI_Count count, Datatype& type) {
  MPI_Datatype handle = handle_of(&type);
  auto* from = static_cast<std::byte*>(const_cast<void*>(in));
  auto* to = static_cast<std::byte*>(inout);
#if MPI_VERSION >= 4
  if (op.large_function) return op.large_function(from, to, &count, &handle);
#endif
  while (count > 0) {
    int now = count > INT_MAX ? INT_MAX : static_cast<int>(count);
    if (op.foreign) {
      op.foreign(from, to, now, handle);
    } else if (op.is_fortran) {
      // A Fortran function takes the same arguments, the datatype as an INTEGER.
      MPI_Fint fortran = type.fortran;
      using FortranFunction = void(void*, void*, MPI_Fint*, MPI_Fint*);
      MPI_Fint fortran_count = now;
      reinterpret_cast<FortranFunction*>(reinterpret_cast<void*>(op.function))(
          from, to, &fortran_count, &fortran);
    } else {
      op.function(from, to, &now, &handle);
    }
    const MPI_Count bytes = now * type.extent;
    from += bytes;
    to += bytes;
    count -= now;
  }
}

void replace(const void* in, void* inout, MPI_Count count, const Datatype& type) {
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  if (type.dense) {
    if (count > 0) std::memcpy(to, from, packed_bytes(count, type));
    return;
  }
  for_each_run(count, type,
               [&](MPI_Aint at, std::uint64_t length) { std::memcpy(to + at, from + at, length); });
}

}  // namespace

void create_predefined_ops() {
  std::byte* place = objects;
  for (const PredefinedOp& predefined : kOps) {
    auto* op = new (place) Op;
    op->predefined = true;
    op->which = static_cast<int>(predefined.operation);
    op->commutes =
        predefined.operation != Operation::replace && predefined.operation != Operation::no_op;
    set_predefined(predefined.handle, op);
    place += sizeof(Op);
  }
}

bool fits(const Op& op, const Datatype& type) {
  if (is_users(op)) return true;
  const auto operation = static_cast<Operation>(op.which);
  if (operation == Operation::replace || operation == Operation::no_op) return true;
  const BasicType* basic = stands_for(type);
  return basic && loop_of(op, *basic);
}

namespace {

std::optional<machine::Combining> combining_of(Operation operation) {
  using machine::Combining;
  switch (operation) {
    case Operation::sum:
      return Combining::sum;
    case Operation::prod:
      return Combining::prod;
    case Operation::max:
    case Operation::min:
      return Combining::minmax;
    case Operation::land:
    case Operation::lor:
    case Operation::lxor:
      return Combining::logical;
    case Operation::band:
    case Operation::bor:
    case Operation::bxor:
      return Combining::bit;
    case Operation::minloc:
    case Operation::maxloc:
      return Combining::minmaxloc;
    default:
      return std::nullopt;
  }
}

std::optional<machine::Operand> operand_of(Scalar scalar) {
  using machine::Operand;
  const auto bytes = static_cast<std::uint64_t>(size_of(scalar));
  switch (scalar) {
    case Scalar::float32:
      return Operand::float_;
    case Scalar::float64:
      return Operand::double_;
    case Scalar::extended:
      return Operand::long_double;
    case Scalar::complex_float32:
      return Operand::complex_float;
    case Scalar::complex_float64:
      return Operand::complex_double;
    case Scalar::logical8:
    case Scalar::logical16:
    case Scalar::logical32:
    case Scalar::logical64:
    case Scalar::boolean:
    case Scalar::byte:
      return machine::integer_of(bytes);
    default:
      return is_integer(scalar) ? machine::integer_of(bytes) : std::nullopt;
  }
}

}  // namespace

machine::Reduction class_of(const Op& op, const Datatype& type) {
  const BasicType* const basic = is_users(op) ? nullptr : stands_for(type);
  const auto what = combining_of(static_cast<Operation>(op.which));
  const auto of = basic ? operand_of(basic->value) : std::nullopt;
  if (!what || !of || !machine::is_defined(*what, *of)) return machine::Reduction::other;
  return machine::reduction_of(*what, *of);
}

void combine(const Op& op, const void* in, void* inout, MPI_Count count, Datatype& type) {
  if (count <= 0) return;
  if (is_users(op)) return call_back([&] { call_users(op, in, inout, count, type); });
  const auto operation = static_cast<Operation>(op.which);
  if (operation == Operation::no_op) return;
  if (operation == Operation::replace) return replace(in, inout, count, type);

  const BasicType* basic = type.basic ? type.basic : layout_of(type).map->only;
  const Loop loop = basic ? loop_of(op, *basic) : nullptr;
  if (!loop) return;  // fits() says no
  if (type.basic) return loop(in, inout, static_cast<std::size_t>(count));
  // Types made of one basic type (MPI_Accumulate), part by part.
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  if (basic->size == basic->extent) {
    for_each_run(count, type, [&](MPI_Aint at, std::uint64_t length) {
      loop(from + at, to + at, length / basic->size);
    });
    return;
  }
  const TypeMap& map = *layout_of(type).map;
  for (MPI_Count i = 0; i < count; ++i) {
    visit_elements(map, i * type.extent, [&](MPI_Count at, const BasicType&) {
      loop(from + at, to + at, 1);
      return true;
    });
  }
}

namespace {

int null_op(MPI_Op handle) {
  return raise(MPI_ERR_OP, handle == MPI_OP_NULL ? "the operation is MPI_OP_NULL"
                                                 : "the operation is no valid handle");
}

int reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op handle) {
  if (count < 0)
    return raise(MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
  int error = MPI_SUCCESS;
  Datatype* type = old_type(datatype, error);
  if (!type) return error;
  if (!type->committed) return raise(MPI_ERR_TYPE, "the datatype is not committed");
  Op* op = get(handle);
  if (!op) return null_op(handle);
  if (!fits(*op, *type)) return raise(MPI_ERR_OP, "not defined for the datatype");
  if (count > 0 && (in == MPI_IN_PLACE || inout == MPI_IN_PLACE))
    return raise(MPI_ERR_BUFFER, "a buffer is MPI_IN_PLACE");
  if (count > 0 && in == inout) return raise(MPI_ERR_BUFFER, "the two buffers are the same");
  combine(*op, in, inout, count, *type);
  if (line.is_open() && count > 0) {
    Record record = line.record(trace::EventKind::call);
    record.reduction = static_cast<std::uint8_t>(class_of(*op, *type));
    record.bytes = packed_bytes(count, *type);
    line.post(record);
  }
  line.compute_in_call(take_called_back().took);
  return MPI_SUCCESS;
}

template <class Set>
int create_op(const void* function, int commute, MPI_Op* handle, Set set) {
  if (int error = check_result(function, "the function")) return error;
  if (int error = check_result(handle, "op")) return error;
  auto* op = new Op;
  op->commutes = commute != 0;
  set(*op);
  *handle = handle_of(op);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  return create_op(reinterpret_cast<const void*>(function), commute, op,
                   [function](Op& made) { made.function = function; });
}

int Op_free(MPI_Op* handle) {
  if (int error = check_result(handle, "op")) return error;
  Op* op = get(*handle);
  if (!op) return null_op(*handle);
  if (op->predefined) return raise(MPI_ERR_OP, "a predefined operation cannot be freed");
  release(op);
  *handle = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int Op_commutative(MPI_Op handle, int* commute) {
  Op* op = get(handle);
  if (!op) return null_op(handle);
  if (int error = check_result(commute, "commute")) return error;
  *commute = op->commutes;
  return MPI_SUCCESS;
}

int Reduce_local(const void* in, void* inout, int count, MPI_Datatype datatype, MPI_Op op) {
  return reduce_local(in, inout, count, datatype, op);
}

#if MPI_VERSION >= 4
int Op_create_c(MPI_User_function_c* function, int commute, MPI_Op* op) {
  return create_op(reinterpret_cast<const void*>(function), commute, op,
                   [function](Op& made) { made.large_function = function; });
}

int Reduce_local_c(const void* in, void* inout, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  return reduce_local(in, inout, count, datatype, op);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
