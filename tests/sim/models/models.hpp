// Running model programs in tests: on round LogGPS numbers, on test_machine(),
// and in every order of ready ranks.
#pragma once

#include "../programs.hpp"
#include "sim/model/model_program.hpp"

namespace foretrace::sim {

// L = 2 us, o = 0.5 us, g = 0.1 us, G = 0.5 ns, S = 65536. A message of at most one
// byte that is sent at 0 is there at 2.5 us; who waits for it leaves at 3 us.
inline SimulateOptions loggps() {
  SimulateOptions options;
  options.network.kind = NetworkKind::loggps;
  options.network.loggps.latency = us(2);
  options.network.loggps.overhead_send = options.network.loggps.overhead_recv = Time::ns(500);
  options.network.loggps.gap = Time::ns(100);
  options.network.loggps.gap_per_byte = 0.5e-9;
  options.network.loggps.sync_threshold = Bytes(65536);
  return options;
}

// The events of a rank are MPI_Init, its calls, MPI_Finalize.
inline Replayed run(ModelProgram& program, const SimulateOptions& options = loggps()) {
  return replay(program, options);
}

// For each rank what it noted, in its order: for what a program sees, which no
// trace holds. The last of several runs counts.
template <class T>
class Notes {
 public:
  explicit Notes(int ranks) : notes_(static_cast<std::size_t>(ranks)) {}
  void begin(const ModelRank& rank) { of(rank).clear(); }
  void add(const ModelRank& rank, T note) { of(rank).push_back(note); }
  const std::vector<T>& operator[](int rank) const {
    return notes_.at(static_cast<std::size_t>(rank));
  }

 private:
  std::vector<T>& of(const ModelRank& rank) {
    return notes_.at(static_cast<std::size_t>(rank.rank()));
  }
  std::vector<std::vector<T>> notes_;
};

}  // namespace foretrace::sim
