// Annotations: what a rank's program announced of itself (include/foretrace.h):
// the names of its phases and marks, the phases that are open, and what was
// wrong with what it said. Kept by whoever writes the rank's events; writes none itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace foretrace::trace {

class Annotations {
 public:
  // Names are numbered from 0 in the order of first use.
  struct Name {
    std::uint32_t number;
    bool is_new;
  };
  Name name(const char* text);

  // A phase opens. `logged`: the trace tells, so it must tell its end, too.
  void begin(std::uint32_t name, bool logged);
  // Closes the phase opened last under `name`, or else the one opened last under
  // the name "". True if the trace must tell; `logging`: it tells all it can.
  bool end(std::uint32_t name, bool logging);

  // Whether steps that were announced are a number of them: finite, 0 or more. By any thread.
  bool takes(double steps);

  // What to tell the user at the program's end: "1 phase left open (first:
  // 'solve')"; empty if every phase was closed that was opened, no other, and all steps were taken.
  std::string complaint() const;

 private:
  struct Open {
    std::uint32_t name;
    bool logged;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> names_;  // keys of numbers_
  std::uint32_t unnamed_ = kNone;
  std::vector<Open> open_;
  std::uint64_t never_opened_ = 0;  // ends without a beginning
  std::uint32_t first_never_opened_ = kNone;
  std::atomic<std::uint64_t> refused_{0};  // announcements of steps that are no number of them
};

}  // namespace foretrace::trace
