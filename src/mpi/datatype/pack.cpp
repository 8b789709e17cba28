// Moving the data of datatypes; counting their elements.
#include <algorithm>
#include <cstring>

#include "mpi/core/block.hpp"
#include "mpi/datatype/layout.hpp"
#include "mpi/datatype/streaming_copy.hpp"

namespace foretrace::mpi {
namespace {

// Lengths that programs have, with a constant for the compiler; a call of memcpy
// costs more than the copy.
inline void copy(std::byte* to, const std::byte* from, std::uint64_t length) {
  switch (length) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 12:
      std::memcpy(to, from, 12);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 24:
      std::memcpy(to, from, 24);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    default:
      std::memcpy(to, from, length);
  }
}

struct Packer {
  using User = const std::byte*;
  using Packed = std::byte*;
  static void move(User user, Packed packed, std::uint64_t length) { copy(packed, user, length); }
  template <std::size_t kLength>
  static void move(User user, Packed packed) {
    std::memcpy(packed, user, kLength);
  }
};

struct Unpacker {
  using User = std::byte*;
  using Packed = const std::byte*;
  static void move(User user, Packed packed, std::uint64_t length) { copy(user, packed, length); }
  template <std::size_t kLength>
  static void move(User user, Packed packed) {
    std::memcpy(user, packed, kLength);
  }
};

// `count` runs of one length, at equal distances on either side.
template <class Mover, std::size_t kLength>
void move_strided(typename Mover::User user, MPI_Count stride, typename Mover::Packed packed,
                  std::uint64_t packed_stride, MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) {
    Mover::template move<kLength>(user, packed);
    user += stride;
    packed += packed_stride;
  }
}

template <class Mover>
void move_strided(std::uint64_t length, typename Mover::User user, MPI_Count stride,
                  typename Mover::Packed packed, std::uint64_t packed_stride, MPI_Count count) {
  switch (length) {
    case 1:
      return move_strided<Mover, 1>(user, stride, packed, packed_stride, count);
    case 2:
      return move_strided<Mover, 2>(user, stride, packed, packed_stride, count);
    case 4:
      return move_strided<Mover, 4>(user, stride, packed, packed_stride, count);
    case 8:
      return move_strided<Mover, 8>(user, stride, packed, packed_stride, count);
    case 12:
      return move_strided<Mover, 12>(user, stride, packed, packed_stride, count);
    case 16:
      return move_strided<Mover, 16>(user, stride, packed, packed_stride, count);
    case 24:
      return move_strided<Mover, 24>(user, stride, packed, packed_stride, count);
    case 32:
      return move_strided<Mover, 32>(user, stride, packed, packed_stride, count);
    case 64:
      return move_strided<Mover, 64>(user, stride, packed, packed_stride, count);
    default:
      for (MPI_Count i = 0; i < count; ++i) {
        Mover::move(user, packed, length);
        user += stride;
        packed += packed_stride;
      }
  }
}

// Whether elements of these runs, `stride` apart, can be moved in any order.
bool are_apart(const std::vector<Runs::Run>& list, MPI_Count stride) {
  MPI_Count low = list.front().at;
  MPI_Count high = low;
  for (const Runs::Run& run : list) {
    low = std::min(low, run.at);
    high = std::max(high, run.at + static_cast<MPI_Count>(run.length));
  }
  return high - low <= (stride < 0 ? -stride : stride);
}

// Structs in a row: the same member of many of them at a time, few enough that
// they stay in the cache until the last member is done.
constexpr std::size_t kMembers = 8;
constexpr MPI_Count kAtATime = 64;

template <class Mover>
typename Mover::Packed move_structs(MPI_Count count, MPI_Count stride, const Runs& child,
                                    typename Mover::User user, typename Mover::Packed packed) {
  for (MPI_Count done = 0; done < count; done += kAtATime) {
    const MPI_Count now = std::min(kAtATime, count - done);
    auto at = packed;
    for (const Runs::Run& run : child.list) {
      move_strided<Mover>(run.length, user + done * stride + run.at, stride, at, child.size, now);
      at += run.length;
    }
    packed += static_cast<std::uint64_t>(now) * child.size;
  }
  return packed;
}

template <class Mover>
typename Mover::Packed move(const Runs& runs, typename Mover::User user,
                            typename Mover::Packed packed);

template <class Mover>
typename Mover::Packed move_repeat(MPI_Count count, MPI_Count stride, const Runs& child,
                                   typename Mover::User user, typename Mover::Packed packed) {
  switch (child.kind) {
    case Runs::Kind::empty:
      return packed;
    case Runs::Kind::run:
      move_strided<Mover>(child.run.length, user + child.run.at, stride, packed, child.run.length,
                          count);
      return packed + static_cast<std::uint64_t>(count) * child.run.length;
    case Runs::Kind::list:
      if (child.list.size() <= kMembers && are_apart(child.list, stride))
        return move_structs<Mover>(count, stride, child, user, packed);
      [[fallthrough]];
    default:
      for (MPI_Count i = 0; i < count; ++i) packed = move<Mover>(child, user + i * stride, packed);
      return packed;
  }
}

template <class Mover>
typename Mover::Packed move(const Runs& runs, typename Mover::User user,
                            typename Mover::Packed packed) {
  switch (runs.kind) {
    case Runs::Kind::empty:
      break;
    case Runs::Kind::run:
      Mover::move(user + runs.run.at, packed, runs.run.length);
      return packed + runs.run.length;
    case Runs::Kind::repeat:
      return move_repeat<Mover>(runs.count, runs.stride, *runs.child, user, packed);
    case Runs::Kind::list:
      for (const Runs::Run& run : runs.list) {
        Mover::move(user + run.at, packed, run.length);
        packed += run.length;
      }
      break;
    case Runs::Kind::parts:
      for (const Runs::Part& part : runs.parts)
        packed = move<Mover>(*part.child, user + part.at, packed);
      break;
  }
  return packed;
}

// The first `bytes` bytes of something that has more.
void unpack_part(const Runs& runs, std::byte* user, const std::byte* packed, std::uint64_t bytes);

void unpack_part(MPI_Count stride, const Runs& child, std::byte* user, const std::byte* packed,
                 std::uint64_t bytes) {
  const auto whole = static_cast<MPI_Count>(bytes / child.size);
  packed = move_repeat<Unpacker>(whole, stride, child, user, packed);
  unpack_part(child, user + whole * stride, packed, bytes % child.size);
}

void unpack_part(const Runs& runs, std::byte* user, const std::byte* packed, std::uint64_t bytes) {
  if (bytes == 0) return;
  switch (runs.kind) {
    case Runs::Kind::empty:
      return;
    case Runs::Kind::run:
      std::memcpy(user + runs.run.at, packed, bytes);
      return;
    case Runs::Kind::repeat:
      return unpack_part(runs.stride, *runs.child, user, packed, bytes);
    case Runs::Kind::list:
      for (const Runs::Run& run : runs.list) {
        const std::uint64_t length = run.length < bytes ? run.length : bytes;
        std::memcpy(user + run.at, packed, length);
        packed += length;
        bytes -= length;
        if (bytes == 0) return;
      }
      return;
    case Runs::Kind::parts:
      for (const Runs::Part& part : runs.parts) {
        if (bytes < part.child->size)
          return unpack_part(*part.child, user + part.at, packed, bytes);
        packed = move<Unpacker>(*part.child, user + part.at, packed);
        bytes -= part.child->size;
      }
  }
}

// --- runs -----------------------------------------------------------------------

using Visit = std::function<void(MPI_Aint, std::uint64_t)>;

// Holds a run back until the next is seen, to merge them.
class Merger {
 public:
  explicit Merger(const Visit& visit) : visit_(visit) {}
  void add(MPI_Count at, std::uint64_t length) {
    if (length_ > 0 && at_ + static_cast<MPI_Count>(length_) == at) {
      length_ += length;
      return;
    }
    finish();
    at_ = at;
    length_ = length;
  }
  void finish() {
    if (length_ > 0) visit_(at_, length_);
    length_ = 0;
  }

 private:
  const Visit& visit_;
  MPI_Count at_ = 0;
  std::uint64_t length_ = 0;
};

void add_runs(const Runs& runs, MPI_Count at, Merger& merger) {
  switch (runs.kind) {
    case Runs::Kind::empty:
      return;
    case Runs::Kind::run:
      return merger.add(at + runs.run.at, runs.run.length);
    case Runs::Kind::repeat:
      for (MPI_Count i = 0; i < runs.count; ++i)
        add_runs(*runs.child, at + i * runs.stride, merger);
      return;
    case Runs::Kind::list:
      for (const Runs::Run& run : runs.list) merger.add(at + run.at, run.length);
      return;
    case Runs::Kind::parts:
      for (const Runs::Part& part : runs.parts) add_runs(*part.child, at + part.at, merger);
  }
}

// --- elements -------------------------------------------------------------------

// Bytes and elements that the start of a type map holds. Both walks below go down
// to where the limit is, and count what comes before without looking at it.
struct Progress {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
};

std::uint64_t first_size(const BasicType& basic) {
  return static_cast<std::uint64_t>(size_of(basic.value));
}

// limit.whole(child, progress): how many more whole children stay within it;
// limit.admits(bytes, progress): whether the first part of a pair does.
template <class Limit>
void advance(const TypeMap& map, const Limit& limit, Progress& progress) {
  const auto several = [&](MPI_Count count, const TypeMap& child) {
    if (child.elements == 0) return true;
    const auto whole = limit.whole(child, progress);
    const std::uint64_t taken =
        whole < static_cast<std::uint64_t>(count) ? whole : static_cast<std::uint64_t>(count);
    progress.bytes += taken * child.size;
    progress.elements += taken * child.elements;
    if (taken == static_cast<std::uint64_t>(count)) return true;
    advance(child, limit, progress);
    return false;
  };
  switch (map.kind) {
    case TypeMap::Kind::empty:
      return;
    case TypeMap::Kind::basic:
      if (kElementsOfPair == 2 && map.basic->is_pair() &&
          limit.admits(first_size(*map.basic), progress)) {
        progress.bytes += first_size(*map.basic);
        progress.elements += 1;
      }
      return;
    case TypeMap::Kind::repeat:
      several(map.count, *map.child);
      return;
    case TypeMap::Kind::blocks:
      for (const TypeMap::Block& block : map.blocks)
        if (!several(block.count, *map.child)) return;
      return;
    case TypeMap::Kind::fields:
      for (const TypeMap::Field& field : map.fields)
        if (!several(field.count, *field.child)) return;
  }
}

struct ByteLimit {
  std::uint64_t bytes;
  std::uint64_t whole(const TypeMap& child, const Progress& progress) const {
    return (bytes - progress.bytes) / child.size;
  }
  bool admits(std::uint64_t first, const Progress& progress) const {
    return bytes - progress.bytes >= first;
  }
};

struct ElementLimit {
  std::uint64_t elements;
  std::uint64_t whole(const TypeMap& child, const Progress& progress) const {
    return (elements - progress.elements) / child.elements;
  }
  bool admits(std::uint64_t, const Progress& progress) const {
    return elements - progress.elements >= 1;
  }
};

}  // namespace

void pack(const void* buffer, MPI_Count count, const Datatype& type, void* out) {
  if (count <= 0 || type.size == 0) return;
  if (type.dense) {
    std::memcpy(out, buffer, packed_bytes(count, type));
    return;
  }
  move_repeat<Packer>(count, type.extent, runs_of(type), static_cast<const std::byte*>(buffer),
                      static_cast<std::byte*>(out));
}

void unpack(const void* in, std::uint64_t bytes, void* buffer, MPI_Count count,
            const Datatype& type) {
  const std::uint64_t room = packed_bytes(count, type);
  if (bytes > room) bytes = room;
  if (bytes == 0) return;
  if (type.dense) {
    std::memcpy(buffer, in, bytes);
    return;
  }
  unpack_part(type.extent, runs_of(type), static_cast<std::byte*>(buffer),
              static_cast<const std::byte*>(in), bytes);
}

void pack_out(const void* buffer, MPI_Count count, const Datatype& type, void* out) {
  if (type.dense && count > 0) return copy_out(out, buffer, packed_bytes(count, type));
  pack(buffer, count, type, out);
}

void unpack_in(const void* in, std::uint64_t bytes, void* buffer, MPI_Count count,
               const Datatype& type) {
  if (type.dense) return copy_in(buffer, in, std::min(bytes, packed_bytes(count, type)));
  unpack(in, bytes, buffer, count, type);
}

void for_each_run(MPI_Count count, const Datatype& type, const Visit& visit) {
  if (count <= 0 || type.size == 0) return;
  if (type.dense) return visit(0, packed_bytes(count, type));
  const Runs& runs = runs_of(type);
  Merger merger(visit);
  for (MPI_Count i = 0; i < count; ++i) add_runs(runs, i * type.extent, merger);
  merger.finish();
}

MPI_Count elements_in(std::uint64_t bytes, const Datatype& type) {
  const TypeMap& map = *layout_of(type).map;
  if (map.size == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  const std::uint64_t whole = bytes / map.size;
  Progress progress{whole * map.size, whole * map.elements};
  if (progress.bytes < bytes) advance(map, ByteLimit{bytes}, progress);
  return progress.bytes == bytes ? static_cast<MPI_Count>(progress.elements) : MPI_UNDEFINED;
}

std::uint64_t bytes_of_elements(std::uint64_t elements, const Datatype& type) {
  const TypeMap& map = *layout_of(type).map;
  if (map.elements == 0) return 0;
  const std::uint64_t whole = elements / map.elements;
  Progress progress{whole * map.size, whole * map.elements};
  if (progress.elements < elements) advance(map, ElementLimit{elements}, progress);
  return progress.bytes;
}

Datatype* basic_type(Datatype& type) {
  const TypeMap& map = *layout_of(type).map;
  return map.only ? predefined_type(*map.only) : nullptr;
}

}  // namespace foretrace::mpi
