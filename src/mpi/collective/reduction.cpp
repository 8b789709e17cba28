#include "mpi/collective/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/called_back.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/core/line.hpp"

namespace foretrace::mpi {
namespace {

// Elements of this many bytes at a time stay in the cache.
constexpr std::uint64_t kChunk = 64 * 1024;

// Memory for `count` elements as they lie in a program's buffer.
class Elements {
 public:
  Elements(MPI_Count count, const Datatype& type) {
    const MPI_Count last = (count - 1) * type.extent;
    const MPI_Count low = std::min<MPI_Count>(0, last) + type.true_lb;
    const MPI_Count high = std::max<MPI_Count>(0, last) + type.true_lb + type.true_extent;
    // Elements stay aligned as in a buffer that is: to 16 bytes.
    const MPI_Count before = low < 0 ? (-low + 15) / 16 * 16 : 0;
    memory_ = std::make_unique<std::byte[]>(
        static_cast<std::size_t>(before + std::max<MPI_Count>(high, 0)));
    origin_ = memory_.get() + before;
  }
  std::byte* origin() const { return origin_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::byte* origin_;
};

}  // namespace

Outcome Reduction::check(const Operand& operand, int n) const {
  for (int i = 0; i < n; ++i)
    if (operand(i).size() != bytes())
      return {MPI_ERR_TRUNCATE, std::to_string(operand(i).size()) + " bytes from rank " +
                                    std::to_string(i) + ", expected " + std::to_string(bytes()) +
                                    " as here"};
  return {};
}

namespace {

// Combines operands 0 to n - 1 (n > 0). make() makes memory for one, load(memory, i) puts the i-th
// there, combine(left, right) leaves both together in `right`. The memory with the result.
template <class Make, class Load, class Combine>
auto fold(Grouping grouping, int n, Make make, Load load, Combine combine) {
  using Memory = decltype(make());
  struct Part {
    int level;
    Memory memory;
  };
  std::vector<Part> parts;
  std::vector<Memory> spare;
  int next = 0;
  const auto take_next = [&] {
    if (spare.empty()) spare.push_back(make());
    Memory memory = std::move(spare.back());
    spare.pop_back();
    load(memory, next++);
    return memory;
  };
  const auto add_to = [&](Memory& left, Memory right) {
    combine(left, right);
    spare.push_back(std::exchange(left, std::move(right)));
  };
  const bool tree = grouping == Grouping::tree;
  const int blocks = tree ? static_cast<int>(std::bit_floor(static_cast<unsigned>(n))) : n;
  for (int block = 0; block < blocks; ++block) {
    Part part{0, take_next()};
    if (block < n - blocks) add_to(part.memory, take_next());
    while (!parts.empty() && (!tree || parts.back().level == part.level)) {
      Part left = std::move(parts.back());
      parts.pop_back();
      add_to(left.memory, std::move(part.memory));
      part = {left.level + 1, std::move(left.memory)};
    }
    parts.push_back(std::move(part));
  }
  return std::move(parts.back().memory);
}

}  // namespace

// Folds some of the elements, from byte `first` on. `out` has their place.
void Reduction::fold_piece(const Operand& operand, int n, std::uint64_t first, MPI_Count elements,
                           std::byte* out) const {
  const std::size_t bytes = packed_bytes(elements, *type);
  using Memory = std::unique_ptr<std::byte[]>;
  const Memory result = fold(
      grouping, n, [&] { return std::make_unique_for_overwrite<std::byte[]>(bytes); },
      [&](const Memory& memory, int i) {
        std::memcpy(memory.get(), operand(i).data() + first, bytes);
      },
      [&](const Memory& left, const Memory& right) {
        combine(*op, left.get(), right.get(), elements, *type);
      });
  std::memcpy(out, result.get(), bytes);
}

void Reduction::fold_dense(const Operand& operand, int n, std::byte* out) const {
  const auto size = static_cast<std::uint64_t>(type->size);
  // The user's functions see all elements at once.
  const MPI_Count step =
      !op->predefined ? count : static_cast<MPI_Count>(std::max<std::uint64_t>(1, kChunk / size));
  for (MPI_Count done = 0; done < count; done += step) {
    const std::uint64_t first = packed_bytes(done, *type);
    fold_piece(operand, n, first, std::min(step, count - done), out + first);
  }
}

// Folds in memory where elements lie as the type says.
void Reduction::fold_apart(const Operand& operand, int n,
                           const std::function<void(const void*)>& take) const {
  const Elements result = fold(
      grouping, n, [&] { return Elements(count, *type); },
      [&](const Elements& memory, int i) {
        unpack(operand(i).data(), bytes(), memory.origin(), count, *type);
      },
      [&](const Elements& left, const Elements& right) {
        combine(*op, left.origin(), right.origin(), count, *type);
      });
  take(result.origin());
}

Outcome Reduction::to_bytes(const Operand& operand, int n, std::byte* out) const {
  if (bytes() == 0 || n == 0) return {};
  Outcome outcome = check(operand, n);
  if (outcome.error != MPI_SUCCESS) return outcome;
  if (type->dense)
    fold_dense(operand, n, out);
  else
    fold_apart(operand, n, [&](const void* elements) { pack(elements, count, *type, out); });
  return {};
}

Outcome Reduction::to_buffer(const Operand& operand, int n, void* buffer) const {
  if (bytes() == 0 || n == 0) return {};
  if (type->dense) return to_bytes(operand, n, static_cast<std::byte*>(buffer));
  const std::unique_ptr<std::byte[]> result = std::make_unique_for_overwrite<std::byte[]>(bytes());
  const Outcome outcome = to_bytes(operand, n, result.get());
  if (outcome.error == MPI_SUCCESS) unpack(result.get(), bytes(), buffer, count, *type);
  return outcome;
}

Time Reduction::take_each() {
  const CalledBack done = take_called_back();
  return done.calls == 0 ? Time() : Time::ps(done.took.count_ps() / done.calls);
}

void Reduction::take_time_of_tree(Time each, int n) {
  const int levels = std::bit_width(static_cast<unsigned>(std::max(n, 1) - 1));
  line.compute_in_call(Time::ps(each.count_ps() * levels));
}

namespace {

// What precedes the results in the memory that all members share.
struct Shares {
  std::uint64_t bytes;    // of each result
  int error;              // of any of the reductions
  std::int64_t each = 0;  // CommonReduction::each(), in picoseconds
};
constexpr std::uint64_t kSharesHeader = 64;
static_assert(sizeof(Shares) <= kSharesHeader);

// Results begin at multiples of 64 bytes.
std::uint64_t room(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

CommonReduction::CommonReduction(const Comm& comm, const Reduction& reduction, Gathered& gathered) {
  const std::uint64_t bytes = reduction.bytes();
  if (bytes == 0) return;
  const int results = comm.is_inter() ? 2 : 1;
  const int first_group = comm.first ? comm.size() : comm.places() - comm.size();
  const auto compute = [&](std::byte* memory) {
    Shares header{bytes, MPI_SUCCESS};
    for (int i = 0; i < results; ++i) {
      const int begin = i == 0 ? 0 : first_group;
      const int end = results == 2 && i == 0 ? first_group : comm.places();
      const Outcome outcome =
          reduction.to_bytes([&](int k) { return gathered.of(begin + k); }, end - begin,
                             memory + kSharesHeader + static_cast<std::uint64_t>(i) * room(bytes));
      if (outcome.error != MPI_SUCCESS) header.error = outcome.error;
    }
    header.each = Reduction::take_each().count_ps();
    std::memcpy(memory, &header, sizeof(header));
  };
  const ByteSpan common =
      gathered.common(kSharesHeader + static_cast<std::uint64_t>(results) * room(bytes), compute);
  Shares header;
  std::memcpy(&header, common.data(), sizeof(header));
  if (header.error != MPI_SUCCESS || header.bytes != bytes) {
    outcome_ = {MPI_ERR_TRUNCATE,
                "the members' contributions to the reduction differ in their sizes"};
    return;
  }
  each_ = Time::ps(header.each);
  // On inter-communicators the result comes from the other group.
  const std::uint64_t which = comm.is_inter() && comm.first ? 1 : 0;
  result_ = common.subspan(kSharesHeader + which * room(bytes), bytes);
}

}  // namespace foretrace::mpi
