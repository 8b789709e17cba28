// OutputClaim: the name of a run's output, kept from before its ranks are started until it is
// there. The ranks themselves make FILE.part only in MPI_Init.
#pragma once

#include <chrono>
#include <string>

#include "study/lock.hpp"

namespace foretrace::cli {

class OutputClaim {
 public:
  OutputClaim() = default;
  // Throws Error where another run of this tool has the name. Where nothing can be locked, two
  // runs find out by FILE.part.
  explicit OutputClaim(const std::string& output);
  ~OutputClaim() { lock_.remove(); }
  OutputClaim(OutputClaim&&) = default;
  OutputClaim& operator=(OutputClaim&& other) noexcept;

  // The same for a name that may be another one; false: another run has this one.
  bool take(const std::string& output);

 private:
  study::FileLock lock_;
};

// Whether a process holds FILE.part; of a run that is just dying it is waited for so long.
bool is_held(const std::string& part,
             std::chrono::milliseconds patience = std::chrono::milliseconds(1000));

}  // namespace foretrace::cli
