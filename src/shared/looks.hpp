// Which postings look whether something is there, and never wait for it.
#pragma once

#include "shared/shared_memory.hpp"
#include "sim/operation.hpp"
#include "trace/event.hpp"

namespace foretrace::live {

inline bool is_call(const Record& record) {
  return record.posting == Posting::operation &&
         static_cast<trace::EventKind>(record.kind) == trace::EventKind::call;
}

inline bool is_look(const Record& record) {
  using sim::Completing;
  using sim::Probing;
  const auto probing = static_cast<Probing>(record.probing);
  if (is_call(record)) return probing == Probing::look || probing == Probing::take_look;
  const auto how = static_cast<Completing>(record.completing);
  return static_cast<trace::EventKind>(record.kind) == trace::EventKind::complete &&
         (how == Completing::test_all || how == Completing::test_any ||
          how == Completing::test_some);
}

}  // namespace foretrace::live
