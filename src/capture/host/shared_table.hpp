// SharedTable: an open-addressing table of records in the memory that a rank
// shares with its profile. Grows by doubling, up to a limit; never shrinks and
// never forgets. Not safe for several threads at once. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/counters_file.hpp"

namespace foretrace::capture {

template <class Record>
class SharedTable {
 public:
  // `slots` and `most` are powers of two. False: there is no memory for it.
  bool start(trace::CountersWriter& writer, trace::ChunkKind kind, std::uint32_t slots,
             std::uint32_t most) noexcept {
    writer_ = &writer;
    kind_ = kind;
    most_ = most;
    used_ = 0;
    records_ = allocate(slots);
    if (!records_) return false;
    slots_ = slots;
    trace::CountersWriter::publish(records_, nullptr);
    return true;
  }

  // The record for which `same` holds, or nullptr. `same` sees used ones alone.
  template <class Same>
  Record* find(std::uint64_t hash, Same same) const noexcept {
    for (std::uint32_t i = start_of(hash);; i = (i + 1) & (slots_ - 1)) {
      if (!records_[i].used) return nullptr;
      if (same(records_[i])) return &records_[i];
    }
  }

  // A new record, zero but for `used`; nullptr: the table is full. `hash_of` a
  // record is what find() is given for it. Other records may move.
  template <class HashOf>
  Record* add(std::uint64_t hash, HashOf hash_of) noexcept {
    if ((used_ + 1) * 4 > slots_ * 3 && !grow(hash_of) && used_ + 1 == slots_) return nullptr;
    ++used_;
    Record& record = *free_slot(records_, slots_, hash);
    record.used = 1;
    return &record;
  }

  std::uint32_t index_of(const Record& record) const noexcept {
    return static_cast<std::uint32_t>(&record - records_);
  }
  Record& operator[](std::uint32_t index) noexcept { return records_[index]; }
  std::uint32_t slots() const noexcept { return slots_; }

  void clear() noexcept {
    for (std::uint32_t i = 0; i < slots_; ++i) records_[i] = Record();
    used_ = 0;
  }

 private:
  Record* allocate(std::uint32_t slots) noexcept {
    return static_cast<Record*>(
        writer_->append(kind_, slots, static_cast<std::uint32_t>(sizeof(Record))));
  }

  std::uint32_t start_of(std::uint64_t hash) const noexcept {
    return static_cast<std::uint32_t>(hash) & (slots_ - 1);
  }

  static Record* free_slot(Record* records, std::uint32_t slots, std::uint64_t hash) noexcept {
    std::uint32_t i = static_cast<std::uint32_t>(hash) & (slots - 1);
    while (records[i].used) i = (i + 1) & (slots - 1);
    return &records[i];
  }

  template <class HashOf>
  bool grow(HashOf hash_of) noexcept {
    if (slots_ >= most_) return false;
    Record* bigger = allocate(slots_ * 2);
    if (!bigger) return false;
    for (std::uint32_t i = 0; i < slots_; ++i)
      if (records_[i].used) *free_slot(bigger, slots_ * 2, hash_of(records_[i])) = records_[i];
    trace::CountersWriter::publish(bigger, records_);
    records_ = bigger;
    slots_ *= 2;
    return true;
  }

  trace::CountersWriter* writer_ = nullptr;
  trace::ChunkKind kind_{};
  Record* records_ = nullptr;
  std::uint32_t slots_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t most_ = 0;
};

}  // namespace foretrace::capture
