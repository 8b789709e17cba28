#include "formats/rank_streams.hpp"

#include <sys/resource.h>

#include <cstring>

#include "base/error.hpp"

namespace foretrace::formats {
namespace {

// One file for each rank is open at a time, and a few more.
void allow_files(int ranks, const std::string& path) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(ranks) + 64;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
    throw Error(path + ": " + std::to_string(ranks) + " ranks need as many open files, and " +
                std::to_string(limit.rlim_max) + " are allowed; raise the limit (ulimit -n)");
}

}  // namespace

RankStreams::RankStreams(const std::string& to, const trace::TraceInfo& info, Missing& missing,
                         std::vector<trace::Communicator> comms)
    : path_(to), comms_(std::move(comms)), to_(to, info) {
  allow_files(info.ranks, to);
  if (comms_.empty()) {
    comms_.emplace_back();
    for (int r = 0; r < info.ranks; ++r) comms_.front().members.push_back(WorldRank(r));
  }
  writers_.reserve(static_cast<std::size_t>(info.ranks));
  for (int r = 0; r < info.ranks; ++r) {
    writers_.push_back(to_.beside(WorldRank(r)));
    events_.push_back(
        std::make_unique<RankEvents>(writers_.back(), WorldRank(r), comms_, false, missing));
  }
}

void RankStreams::finish(Time at, bool whole) {
  for (const auto& events : events_) events->finish(at);
  for (trace::TraceWriter& writer : writers_) {
    if (writer.lost() > 0)
      throw Error(path_ + ": cannot write the trace: " + std::strerror(writer.error()));
    writer.close();
  }
  to_.finish(whole);
}

}  // namespace foretrace::formats
