// Standstill: says, while a run is under way, that none of its ranks goes on.
//
// Looks from time to time at the trace that the ranks write. It decides nothing and ends
// nothing: who waits for ever, MPI does not know either.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace foretrace::cli {

class StandstillWatch {
 public:
  // `trace`: the file that the ranks write, once it is there.
  explicit StandstillWatch(std::string trace);
  ~StandstillWatch();
  StandstillWatch(const StandstillWatch&) = delete;
  StandstillWatch& operator=(const StandstillWatch&) = delete;

 private:
  void run();
  // By rank, how much it has written; empty where none is in a call.
  std::vector<std::uint64_t> look() const;
  // False: a rank is neither in a call nor at its end, so it computes.
  bool tell() const;

  std::string trace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace foretrace::cli
