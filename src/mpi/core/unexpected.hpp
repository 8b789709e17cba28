// Messages that have come and that no named receive gets, by sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "shared/shared_memory.hpp"

namespace foretrace::mpi {

class Unexpected {
 public:
  // Of a message: its sender and number.
  using Named = std::set<std::pair<std::int32_t, std::uint64_t>>;

  void add(const live::Envelope& message);
  std::size_t size() const { return size_; }
  // Takes out the first one that has this communicator, source and tag; the one with that number.
  // Nothing if there is none.
  std::optional<live::Envelope> take_first(const live::Envelope& channel);
  std::optional<live::Envelope> take(std::int32_t source, std::uint64_t number);
  // Of those that fit, but for some, the one that is seen first: the one sent first, at one instant
  // by its sender's rank; a sender's are seen in the order in which it sent them. nullptr: there is
  // none. Nothing if it is not known when one of them is seen. Good until the next change.
  std::optional<const live::Envelope*> first(const live::Envelope& pattern,
                                             const Named& but = {}) const;

 private:
  // By number: of one sender they come in this order, and a program takes most from the front.
  using Messages = std::deque<live::Envelope>;
  template <class Is>
  std::optional<live::Envelope> take_if(std::int32_t source, Is is);

  std::map<std::int32_t, Messages> by_sender_;
  std::size_t size_ = 0;
};

}  // namespace foretrace::mpi
