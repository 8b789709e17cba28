#include "analysis/running_profile.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/call_profile.hpp"
#include "trace/counters_file.hpp"

namespace foretrace::analysis {
namespace {

using Ends = std::pair<int, int>;  // sender and receiver

// All meet in it, and not only neighbours.
bool is_meeting(const std::string& function) {
  return class_of(function) == CallClass::collective &&
         function.find("eighbor") == std::string::npos;
}

RunningRank& at(RunningRun& run, WorldRank rank) {
  return run.ranks[static_cast<std::size_t>(rank.value)];
}

RunningRank rank_of(const trace::RankCounters& counters, WorldRank number) {
  RunningRank rank;
  rank.rank = number;
  const trace::RankState state = counters.rank.state;
  if (state != trace::RankState::none)
    rank.doing = state == trace::RankState::running ? Doing::computing : Doing::ended;
  for (const trace::SiteRecord& site : counters.sites) rank.calls += site.calls;
  return rank;
}

// By rank; none: in calls on a part of the ranks, so that it is not known who has to come.
using Meetings = std::vector<std::optional<std::uint64_t>>;

// How often each rank ended calls of a function in which all meet.
Meetings meetings_of(const trace::CallCounters& counters, const std::string& function) {
  Meetings all;
  for (const trace::RankCounters& rank : counters.ranks) {
    std::optional<std::uint64_t> calls = 0;
    for (const trace::SiteRecord& site : rank.sites)
      if (counters.info.functions[site.function] == function) *calls += site.calls;
    for (const trace::SizeRecord& size : rank.sizes)
      if (size.comm > 0 && counters.info.functions[size.function] == function &&
          rank.comms[size.comm - std::size_t{1}].size != counters.ranks.size())
        calls.reset();
    all.push_back(calls);
  }
  return all;
}

void wait_for_all(const RunningRun& run, const Meetings& meetings, RunningRank& rank) {
  const auto ended = [&](const RunningRank& of) {
    return meetings[static_cast<std::size_t>(of.rank.value)];
  };
  const auto mine = ended(rank);
  std::vector<WorldRank> missing;
  for (const RunningRank& other : run.ranks) {
    const auto theirs = ended(other);
    if (!mine || !theirs) return;
    const bool there = other.doing == Doing::calling && other.call == rank.call;
    if (*theirs < *mine || (*theirs == *mine && !there)) missing.push_back(other.rank);
  }
  rank.waits_for = std::move(missing);
}

// The one whose messages ended the calls at this place until now.
void wait_for_sender(const CallProfile& profile, RunningRank& rank) {
  std::set<WorldRank> senders;
  for (const SenderTotal& sender : profile.senders) {
    if (sender.rank != rank.rank) continue;
    const SiteTotal& site = profile.sites[sender.site];
    if (site.function == rank.call && !site.frames.empty() &&
        site.frames.front().place == rank.place)
      senders.insert(sender.sender);
  }
  if (senders.size() == 1 && senders.begin()->valid()) rank.waits_for.push_back(*senders.begin());
}

void tell_waiting(const CallProfile& profile, const RunningRun& run, const Meetings* meetings,
                  RunningRank& rank) {
  const CallClass kind = class_of(rank.call);
  if (meetings)
    wait_for_all(run, *meetings, rank);
  else if (kind == CallClass::receive || kind == CallClass::complete)
    wait_for_sender(profile, rank);
  rank.guessed = !rank.waits_for.empty();
}

// A file that is written anew.
class ProfileLook : public RunLook {
 public:
  ProfileLook(std::string path, const trace::TellPlace& tell)
      : path_(std::move(path)),
        find_place_([tell](const std::string& object, std::uint64_t offset) {
          CallFrame frame;
          frame.object = object;
          frame.offset = offset;
          if (tell) frame.place = tell({object, offset});
          return frame;
        }) {
    trace::read_counters(path_);
  }

  RunningRun take() override {
    RunningRun run = running_of(trace::read_counters(path_), find_place_);
    std::map<Ends, RunningMessages> now;
    for (RunningMessages& sent : run.messages) {
      const RunningMessages all = sent;
      const auto before = before_.find({sent.from.value, sent.to.value});
      if (before != before_.end()) {
        sent.messages -= before->second.messages;
        sent.bytes.count -= before->second.bytes.count;
      }
      now[{sent.from.value, sent.to.value}] = all;
    }
    std::erase_if(run.messages, [](const RunningMessages& sent) { return sent.messages == 0; });
    before_ = std::move(now);
    return run;
  }

 private:
  std::string path_;
  FindPlace find_place_;
  std::map<Ends, RunningMessages> before_;
};

}  // namespace

RunningRun running_of(const trace::CallCounters& counters, const FindPlace& find_place) {
  const CallProfile profile = make_call_profile(counters, find_place);
  RunningRun run;
  for (std::size_t r = 0; r < counters.ranks.size(); ++r)
    run.ranks.push_back(rank_of(counters.ranks[r], WorldRank(static_cast<std::int32_t>(r))));
  for (const RankTotal& total : profile.per_rank) {
    RunningRank& rank = at(run, total.rank);
    rank.last = total.time;
    run.compute += total.application;
    if (rank.doing != Doing::computing || total.open_call.empty()) continue;
    rank.doing = Doing::calling;
    rank.call = total.open_call;
    rank.place = total.open_place;
  }
  for (const FunctionTotal& function : profile.functions)
    run.functions.push_back({function.name, function.calls, function.time});
  for (const MatrixEntry& entry : profile.matrix) {
    RunningRank& from = at(run, entry.from);
    from.sent += entry.messages;
    from.sent_bytes.count += entry.bytes.count;
    run.messages.push_back({entry.from, entry.to, entry.messages, entry.bytes});
  }
  std::map<std::string, Meetings> meetings;
  for (RunningRank& rank : run.ranks) {
    if (rank.doing != Doing::calling) continue;
    const bool meets = is_meeting(rank.call);
    if (meets && !meetings.contains(rank.call))
      meetings[rank.call] = meetings_of(counters, rank.call);
    tell_waiting(profile, run, meets ? &meetings[rank.call] : nullptr, rank);
  }
  return run;
}

std::unique_ptr<RunLook> open_profile_run(const std::string& path, const trace::TellPlace& tell) {
  return std::make_unique<ProfileLook>(path, tell);
}

}  // namespace foretrace::analysis
