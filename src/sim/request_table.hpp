// RequestTable: one rank's requests between posting and completion.
//
// Numbers of live requests lie close together (they are serials), so a slot is
// found by the number's low bits. The table grows with the live requests only;
// one that is never completed moves aside when its slot is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/event.hpp"

namespace foretrace::sim {

struct Request {
  std::uint64_t serial = 0;  // 0: the slot is free
  Time end;                  // of the transfer, if done
  Bytes bytes;               // of the message, if done; until then of its collective's equation,
                             // or what the receive has room for
  // receive: of the message, if done. Posted collective that stands for a blocking one: its name
  // (NameId) + 1; once it is done, what it takes if nobody comes late, in ps. Send that waits for
  // its receiver to be in a call: Engine's name for that. 0 for others.
  std::uint64_t payload = 0;
  bool is_send : 1 = false;
  bool done : 1 = false;          // the transfer's end is known
  bool empty : 1 = false;         // no message: MPI_PROC_NULL or cancelled; takes no time
  bool awaited : 1 = false;       // its rank is blocked on it
  bool needs_buffer : 1 = false;  // send: a library with more buffer would let it pass
  bool is_collective : 1 = false;
  bool expanded : 1 = false;   // a collective as messages; until it is done, `tag` says which
  bool is_access : 1 = false;  // with is_send
  bool cancelled : 1 = false;
  bool detached : 1 = false;   // its rank has gone on without it
  bool untouched : 1 = false;  // of the message, as Endpoint has it
  bool in_pieces : 1 = false;  // Engine knows in which
  machine::Cost collective = machine::Cost::kCount;
  // For reports.
  WorldRank peer;
  std::int32_t tag = 0;
  trace::CommId comm = 0;
};
// There may be many millions.
static_assert(sizeof(Request) <= 48);

class RequestTable {
 public:
  // Serials are > 0; nullptr if there is no such request.
  Request* find(std::uint64_t serial) {
    if (!slots_.empty()) {
      Request& slot = slots_[serial & (slots_.size() - 1)];
      if (slot.serial == serial && serial != 0) return &slot;
    }
    if (!aside_) return nullptr;
    const auto found = aside_->find(serial);
    return found == aside_->end() ? nullptr : &found->second;
  }

  // A new request, to be filled in; nullptr if the serial is 0 or in use.
  // Pointers got before are no longer valid.
  Request* insert(std::uint64_t serial) {
    if (serial == 0 || find(serial)) return nullptr;
    if (slots_.empty()) slots_.resize(2);
    while (slot(serial).serial != 0 && live_ * 4 > slots_.size()) grow();
    Request& place = slot(serial);
    if (place.serial != 0) {
      if (!aside_) aside_ = std::make_unique<std::unordered_map<std::uint64_t, Request>>();
      aside_->emplace(place.serial, place);
    }
    place = Request();
    place.serial = serial;
    newest_ = static_cast<std::uint32_t>(serial);
    ++live_;
    return &place;
  }

  void erase(std::uint64_t serial) {
    --live_;
    Request& place = slot(serial);
    if (place.serial == serial)
      place.serial = 0;
    else if (aside_)
      aside_->erase(serial);
  }

  // The last that was inserted, which lies no 2^31 from `known`, one of its like.
  std::uint64_t newest(std::uint64_t known) const {
    const auto beyond = static_cast<std::int32_t>(newest_ - static_cast<std::uint32_t>(known));
    return known + static_cast<std::uint64_t>(std::int64_t{beyond});
  }

  // How many there are.
  std::size_t size() const { return live_; }

  std::size_t memory() const {
    return slots_.capacity() * sizeof(Request) +
           (aside_ ? aside_->size() * (sizeof(Request) + 32) : 0);
  }

 private:
  Request& slot(std::uint64_t serial) { return slots_[serial & (slots_.size() - 1)]; }

  void grow() {
    std::vector<Request> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Request& request : old)
      if (request.serial != 0) slot(request.serial) = request;
  }

  std::vector<Request> slots_;  // a power of two
  std::unique_ptr<std::unordered_map<std::uint64_t, Request>> aside_;
  std::uint32_t live_ = 0;
  std::uint32_t newest_ = 0;  // its low bits
};

}  // namespace foretrace::sim
