#include "mpi/datatype/description.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::mpi {

TypeBuilder::TypeBuilder(int combiner, bool large)
    : contents_(new TypeContents), layout_(new TypeLayout), large_(large) {
  contents_->combiner = combiner;
}

TypeBuilder::~TypeBuilder() {
  if (contents_)
    for (Datatype* type : contents_->types) release(type);
  delete contents_;
  delete layout_;
}

TypeBuilder& TypeBuilder::integer(MPI_Count value) {
  if (large_)
    contents_->large_counts.push_back(value);
  else
    contents_->integers.push_back(static_cast<int>(value));
  return *this;
}

TypeBuilder& TypeBuilder::address(MPI_Count value) {
  if (large_)
    contents_->large_counts.push_back(value);
  else
    contents_->addresses.push_back(static_cast<MPI_Aint>(value));
  return *this;
}

TypeBuilder& TypeBuilder::plain(int value) {
  contents_->integers.push_back(value);
  return *this;
}

TypeBuilder& TypeBuilder::type(Datatype& child) {
  contents_->types.push_back(retain(&child));
  return *this;
}

void TypeBuilder::Bound::include(MPI_Count low, MPI_Count high) {
  lower = has_lower ? std::min(lower, low) : low;
  upper = has_upper ? std::max(upper, high) : high;
  has_lower = has_upper = true;
}

void TypeBuilder::place(const Datatype& child, MPI_Count lowest, MPI_Count highest) {
  const TypeLayout& layout = layout_of(child);
  if (child.size == 0 && !layout.lb_set && !layout.ub_set) return;
  layout_->alignment = std::max(layout_->alignment, layout.alignment);
  const MPI_Count low = child.lb + lowest;
  const MPI_Count high = child.lb + child.extent + highest;
  const bool marks = kMarkersInherited || child.basic;
  if (marks && layout.lb_set) {
    marked_.lower = marked_.has_lower ? std::min(marked_.lower, low) : low;
    marked_.has_lower = true;
  }
  if (marks && layout.ub_set) {
    marked_.upper = marked_.has_upper ? std::max(marked_.upper, high) : high;
    marked_.has_upper = true;
  }
  if (child.size == 0 && child.basic) return;  // a marker itself
  natural_.include(low, high);
  if (child.size > 0)
    true_.include(child.true_lb + lowest, child.true_lb + child.true_extent + highest);
  if (kPadsAlways) pad();
}

void TypeBuilder::place_row(const Datatype& child, MPI_Count at, MPI_Count count) {
  if (count <= 0) return;
  const MPI_Count length = (count - 1) * child.extent;
  place(child, at + std::min<MPI_Count>(0, length), at + std::max<MPI_Count>(0, length));
}

void TypeBuilder::resize(MPI_Count lb, MPI_Count extent) {
  marked_ = {lb, lb + extent, true, true};
}

void TypeBuilder::pad() {
  if (marked_.has_lower || marked_.has_upper) return;
  const MPI_Count over = (natural_.upper - natural_.lower) % layout_->alignment;
  if (over != 0) natural_.upper += layout_->alignment - over;
}

Datatype* TypeBuilder::finish_object(TypeMapRef map) {
  auto* type = new Datatype;
  type->size = static_cast<MPI_Count>(map->size);
  type->lb = marked_.has_lower ? marked_.lower : natural_.lower;
  type->extent = (marked_.has_upper ? marked_.upper : natural_.upper) - type->lb;
  type->true_lb = true_.lower;
  type->true_extent = true_.upper - true_.lower;
  layout_->lb_set = marked_.has_lower;
  layout_->ub_set = marked_.has_upper;
  layout_->map = std::move(map);
  type->layout = std::exchange(layout_, nullptr);
  type->contents = std::exchange(contents_, nullptr);
  // One run from 0 on that fills the extent. Asking for the runs of large lists of
  // blocks would cost more than it may bring; types are dense by their bounds first.
  if (type->lb == 0 && type->size == type->extent && type->true_lb == 0 &&
      type->true_extent == type->size) {
    const Runs& runs = runs_of(*type);
    type->dense = runs.kind == Runs::Kind::empty || runs.kind == Runs::Kind::run;
  }
  return type;
}

MPI_Datatype TypeBuilder::finish(TypeMapRef map) {
  return handle_of(finish_object(std::move(map)));
}

Datatype* old_type(MPI_Datatype handle, int& error) {
  Datatype* type = get(handle);
  if (!type)
    error = raise(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                            : "the datatype is no valid handle");
  return type;
}

int check_result(const void* result, const char* name) {
  if (result) return MPI_SUCCESS;
  return raise(MPI_ERR_ARG, std::string(name) + " is a null pointer");
}

}  // namespace foretrace::mpi
