#include "analysis/call_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace foretrace::analysis {
namespace {

using trace::RankCounters;
using trace::RankRecord;

// A rank's ticks as time, without what measuring added.
class Clock {
 public:
  explicit Clock(const RankRecord& rank) : rank_(rank) {
    const double ticks = span(rank.first_ticks, rank.second_ticks);
    const double ns = span(rank.first_ns, rank.second_ns);
    if (ticks > 0 && ns > 0) ns_per_tick_ = ns / ticks;
  }

  Time time(double ticks) const {
    return Time::from_seconds(std::max(ticks, 0.0) * ns_per_tick_ * 1e-9);
  }
  Time ticks_of(std::uint64_t ticks) const { return time(static_cast<double>(ticks)); }
  // Of `calls` calls that were measured as `ticks` together.
  Time inside(std::uint64_t ticks, std::uint64_t calls) const {
    return time(static_cast<double>(ticks) - static_cast<double>(calls) * rank_.inside_ticks);
  }

  static double span(std::uint64_t from, std::uint64_t to) {
    return to > from ? static_cast<double>(to - from) : 0;
  }

 private:
  const RankRecord& rank_;
  double ns_per_tick_ = 1;
};

template <std::size_t N>
std::string text_of(const std::array<char, N>& room) {
  return std::string(room.data(), std::find(room.begin(), room.end(), '\0'));
}

class SpreadSum {
 public:
  void add(WorldRank rank, Time time) {
    ++values_;
    sum_ += time;
    if (values_ == 1 || time < min_) {
      min_ = time;
      fastest_ = rank;
    }
    if (values_ > 1 && time <= max_) return;
    max_ = time;
    slowest_ = rank;
  }
  // Over `ranks` ranks; those that were not added have zero.
  Spread result(std::size_t ranks) const {
    Spread spread;
    if (ranks == 0) return spread;
    spread.min = values_ < ranks ? Time() : min_;
    spread.max = max_;
    spread.mean = Time::ps(sum_.count_ps() / static_cast<std::int64_t>(ranks));
    spread.slowest = slowest_;
    if (values_ == ranks) spread.fastest = fastest_;
    return spread;
  }

 private:
  std::size_t values_ = 0;
  Time sum_;
  Time min_;
  Time max_;
  WorldRank slowest_;
  WorldRank fastest_;
};

void add(Moved& to, const trace::SiteRecord& site) {
  to.sent = Bytes(to.sent.count + site.sent);
  to.received = Bytes(to.received.count + site.received);
  to.collective = Bytes(to.collective.count + site.collective);
  to.messages += site.messages;
}

// One function or call site on its way: what all ranks together do in it.
struct Gathering {
  CallTotal total;
  SpreadSum ranks;
  // Of the rank at hand; a rank may hold several parts.
  WorldRank rank;
  Time own;

  void add_site(WorldRank of, const trace::SiteRecord& site, const Clock& clock) {
    if (of != rank) flush();
    rank = of;
    const Time time = clock.inside(site.ticks, site.calls);
    own += time;
    total.calls += site.calls;
    total.time += time;
    total.longest = std::max(total.longest, clock.inside(site.longest, 1));
    add(total.moved, site);
  }
  void flush() {
    if (rank.valid()) ranks.add(rank, own);
    own = Time();
    rank = WorldRank();
  }
  CallTotal finish(std::size_t count) {
    flush();
    total.ranks = ranks.result(count);
    return total;
  }
};

// A call site without regard to where each rank had loaded its code.
using SiteKey = std::tuple<std::uint16_t, std::vector<std::pair<std::string, std::uint64_t>>>;

SiteKey key_of(const RankCounters& rank, const std::vector<std::string>& paths,
               const trace::SiteRecord& site) {
  SiteKey key;
  std::get<0>(key) = site.function;
  for (std::uint32_t f = 0; f < site.depth; ++f) {
    const std::uint64_t address = site.frames[f];
    // Where one lies inside another's extent, the one that begins later.
    const trace::ObjectRecord* in = nullptr;
    std::size_t which = 0;
    for (std::size_t i = 0; i < rank.objects.size(); ++i) {
      const trace::ObjectRecord& object = rank.objects[i];
      if (address <= object.base || address > object.end || (in && in->base > object.base))
        continue;
      in = &object;
      which = i;
    }
    std::get<1>(key).emplace_back(in ? paths[which] : "", in ? address - in->base : address);
  }
  return key;
}

std::vector<CallFrame> frames_of(const SiteKey& key, const FindPlace& find_place) {
  std::vector<CallFrame> frames;
  for (const auto& [object, offset] : std::get<1>(key)) {
    CallFrame frame;
    frame.offset = offset;
    frame.place = "?";
    frames.push_back(object.empty() ? frame : find_place(object, offset));
  }
  // What is above main() is the C library's.
  while (frames.size() > 1 && frames.back().function.compare(0, 12, "__libc_start") == 0)
    frames.pop_back();
  return frames;
}

// How the rank ended, into `total`.
void describe_end(const trace::CountersInfo& info, const RankCounters& rank,
                  const std::vector<std::string>& paths, const FindPlace& find_place,
                  RankTotal& total) {
  const RankRecord& record = rank.rank;
  if (record.state == trace::RankState::finalized) return;
  if (record.state == trace::RankState::aborted) {
    total.end = "called MPI_Abort with code " + std::to_string(record.code);
    return;
  }
  total.end = "was outside of MPI";
  if (record.several_threads) total.end = "did not end; where its threads were is not known";
  if (record.several_threads || record.open_site == 0) return;
  const trace::SiteRecord& site = rank.sites[record.open_site - 1];
  total.open_call = info.functions[site.function];
  total.end = "was in " + total.open_call;
  const std::vector<CallFrame> frames = frames_of(key_of(rank, paths, site), find_place);
  if (frames.empty()) return;
  total.open_place = frames[0].place;
  total.end += (frames[0].function.empty() ? " called" : " called by " + frames[0].function) +
               " at " + frames[0].place;
}

RankTotal rank_total(const RankCounters& rank, WorldRank number, const Clock& clock) {
  const RankRecord& record = rank.rank;
  RankTotal total;
  total.rank = number;
  total.host = text_of(record.host);
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
  for (const trace::SiteRecord& site : rank.sites) {
    calls += site.calls;
    ticks += site.ticks;
  }
  std::uint64_t moving = 0;
  for (const trace::SizeRecord& size : rank.sizes) moving += size.calls;
  const double outside = static_cast<double>(record.own_ticks) +
                         static_cast<double>(calls) * record.outside_ticks +
                         static_cast<double>(std::min(moving, calls)) * record.message_ticks;
  const double within = static_cast<double>(calls) * record.inside_ticks;
  // What a call that never came back took until now nobody knows.
  const double whole =
      Clock::span(record.first_ticks, record.last_ticks) - static_cast<double>(record.off_ticks);
  const double main = static_cast<double>(record.several_threads ? record.main_ticks : ticks);
  total.own = clock.time(outside + within);
  total.mpi = clock.time(static_cast<double>(ticks) - within);
  total.application = clock.time(whole - main - outside);
  total.time = total.application + clock.time(main - within);
  return total;
}

// Names of a rank's communicators, and what to add them up under.
struct CommKey {
  std::uint64_t members;
  std::uint32_t ordinal;
  std::uint32_t size;
  bool inter;
  auto operator<=>(const CommKey&) const = default;
};

CommKey key_of(const trace::CommRecord& comm) {
  return {comm.members, comm.ordinal, comm.size, comm.inter != 0};
}

using SizeKey = std::tuple<std::string, std::string, trace::Direction, std::uint8_t>;

class Maker {
 public:
  Maker(const trace::CallCounters& counters, const FindPlace& find_place)
      : counters_(counters), find_place_(find_place) {}

  CallProfile make() {
    profile_.program = counters_.info.program;
    profile_.mpi = counters_.info.mpi;
    profile_.ranks = counters_.info.ranks;
    profile_.complete = counters_.info.complete;
    name_comms();
    for (std::size_t r = 0; r < counters_.ranks.size(); ++r)
      if (counters_.ranks[r].rank.state != trace::RankState::none)
        add_rank(counters_.ranks[r], WorldRank(static_cast<std::int32_t>(r)));
    finish();
    return std::move(profile_);
  }

 private:
  // Each communicator once, the larger ones first.
  void name_comms() {
    std::map<CommKey, std::string> given;
    for (const RankCounters& rank : counters_.ranks)
      for (const trace::CommRecord& comm : rank.comms)
        if (comm.used) {
          std::string& name = given[key_of(comm)];
          if (name.empty()) name = text_of(comm.name);
        }
    std::vector<CommKey> order;
    for (const auto& [key, name] : given) order.push_back(key);
    std::stable_sort(order.begin(), order.end(), [](const CommKey& x, const CommKey& y) {
      return x.size != y.size ? x.size > y.size : x.ordinal < y.ordinal;
    });
    std::map<std::string, int> taken;
    int unnamed = 0;
    for (const CommKey& key : order) {
      std::string name = given[key];
      // Every rank has its own MPI_COMM_SELF; they are one line.
      if (name.empty())
        name = std::string(key.inter ? "inter-communicator " : "communicator ") +
               std::to_string(++unnamed) + " of " + std::to_string(key.size);
      else if (name != "MPI_COMM_SELF" && ++taken[name] > 1)
        name += " (" + std::to_string(taken[name]) + ")";
      comm_names_[key] = name;
      CommTotal& comm = comms_[name];
      comm.name = name;
      comm.size = key.size;
      comm.inter = key.inter;
    }
  }

  void add_rank(const RankCounters& rank, WorldRank number) {
    const Clock clock(rank.rank);
    std::vector<std::string> paths;
    for (const trace::ObjectRecord& object : rank.objects) paths.push_back(text_of(object.path));
    RankTotal total = rank_total(rank, number, clock);
    describe_end(counters_.info, rank, paths, find_place_, total);
    profile_.several_threads |= rank.rank.several_threads != 0;
    profile_.shares_cores |= rank.rank.shares_cores != 0;
    profile_.depth = static_cast<int>(std::max(rank.rank.depth, 1u));
    profile_.lost += rank.rank.lost;
    time_.add(number, total.time);
    application_.add(number, total.application);
    mpi_.add(number, total.mpi);
    own_.add(number, total.own);
    std::unordered_map<std::uint64_t, SiteKey> site_keys;
    for (const trace::SiteRecord& site : rank.sites) {
      if (!site.used || site.calls == 0) continue;
      total.functions[counters_.info.functions[site.function]] +=
          clock.inside(site.ticks, site.calls);
      functions_[site.function].add_site(number, site, clock);
      const SiteKey key = key_of(rank, paths, site);
      sites_[key].add_site(number, site, clock);
      site_keys.emplace(trace::key_of(site), key);
    }
    add_senders(rank, number, site_keys, clock);
    profile_.per_rank.push_back(std::move(total));
    for (const trace::SizeRecord& size : rank.sizes) add_size(rank, size, clock);
    for (const trace::PeerRecord& peer : rank.peers)
      profile_.matrix.push_back({number, WorldRank(static_cast<std::int32_t>(peer.rank)),
                                 peer.messages, Bytes(peer.bytes)});
  }

  // `sites`: the rank's, by trace::key_of. Two of them may be one place: code that was loaded
  // twice.
  void add_senders(const RankCounters& rank, WorldRank number,
                   const std::unordered_map<std::uint64_t, SiteKey>& sites, const Clock& clock) {
    for (const trace::WaitRecord& wait : rank.waits) {
      const auto site = sites.find(wait.site);
      if (site == sites.end()) continue;
      const WorldRank sender = wait.rank == trace::kSeveralRanks
                                   ? WorldRank()
                                   : WorldRank(static_cast<std::int32_t>(wait.rank));
      SenderTotal& total = senders_[{site->second, number.value, sender.value}];
      total.rank = number;
      total.sender = sender;
      total.calls += wait.calls;
      total.time += clock.inside(wait.ticks, wait.calls);
      total.longest = std::max(total.longest, clock.inside(wait.longest, 1));
    }
  }

  // The sites by time, and what refers to them.
  void finish_sites(std::size_t ranks) {
    std::vector<std::pair<SiteTotal, const SiteKey*>> sites;
    for (auto& [key, gathering] : sites_)
      sites.push_back({{gathering.finish(ranks), counters_.info.functions[std::get<0>(key)],
                        frames_of(key, find_place_)},
                       &key});
    std::ranges::stable_sort(sites, std::greater<>(),
                             [](const auto& site) { return site.first.time; });
    std::map<SiteKey, std::size_t> places;
    for (auto& [site, key] : sites) {
      places[*key] = profile_.sites.size();
      profile_.sites.push_back(std::move(site));
    }
    for (auto& [key, total] : senders_) {
      total.site = places.at(std::get<0>(key));
      profile_.senders.push_back(total);
    }
    std::ranges::stable_sort(profile_.senders, std::greater<>(), &SenderTotal::time);
  }

  void add_size(const RankCounters& rank, const trace::SizeRecord& size, const Clock& clock) {
    std::string comm;
    if (size.comm > 0 && rank.comms[size.comm - 1u].used)
      comm = comm_names_[key_of(rank.comms[size.comm - 1u])];
    // Where nothing was timed the call is counted in another line already.
    const Time time = size.ticks == 0 ? Time() : clock.inside(size.ticks, size.calls);
    const bool counted = size.ticks != 0;
    if (!comm.empty()) {
      CommTotal& total = comms_[comm];
      total.calls += counted ? size.calls : 0;
      total.time += time;
      if (size.direction == trace::Direction::sent) {
        total.moved.sent = Bytes(total.moved.sent.count + size.bytes);
        total.moved.messages += size.calls;
      }
      if (size.direction == trace::Direction::received)
        total.moved.received = Bytes(total.moved.received.count + size.bytes);
      if (size.direction == trace::Direction::collective)
        total.moved.collective = Bytes(total.moved.collective.count + size.bytes);
    }
    if (size.direction == trace::Direction::none) return;
    SizeTotal& total =
        sizes_[{comm, counters_.info.functions[size.function], size.direction, size.bin}];
    total.calls += size.calls;
    total.bytes = Bytes(total.bytes.count + size.bytes);
    total.time += time;
  }

  void finish() {
    const std::size_t ranks = profile_.per_rank.size();
    profile_.time = time_.result(ranks);
    profile_.application = application_.result(ranks);
    profile_.mpi_time = mpi_.result(ranks);
    profile_.own = own_.result(ranks);
    profile_.classes.assign(static_cast<std::size_t>(CallClass::kCount), Time());
    for (auto& [function, gathering] : functions_) {
      FunctionTotal total{gathering.finish(ranks), counters_.info.functions[function], {}};
      total.kind = class_of(total.name);
      profile_.classes[static_cast<std::size_t>(total.kind)] += total.time;
      profile_.calls += total.calls;
      profile_.functions.push_back(std::move(total));
    }
    finish_sites(ranks);
    for (auto& [name, comm] : comms_)
      if (comm.calls > 0) profile_.comms.push_back(comm);
    for (auto& [key, size] : sizes_) {
      std::tie(size.comm, size.function, size.direction, std::ignore) = key;
      const std::uint8_t bin = std::get<3>(key);
      size.from = Bytes(bin == 0 ? 0 : std::uint64_t{1} << (bin - 1));
      size.to = Bytes(bin == 0 ? 0 : bin == 64 ? UINT64_MAX : (std::uint64_t{1} << bin) - 1);
      profile_.sizes.push_back(size);
    }
    const auto longer = [](const auto& x, const auto& y) { return x.time > y.time; };
    std::stable_sort(profile_.functions.begin(), profile_.functions.end(), longer);
    std::stable_sort(profile_.comms.begin(), profile_.comms.end(), longer);
    for (std::size_t i = 0; i < profile_.sites.size(); ++i) {
      const SiteTotal& site = profile_.sites[i];
      if (!site.ranks.fastest.valid() || ranks < 2 || !all_wait_for_all(site.function)) continue;
      const Time least = Time::ps(site.ranks.min.count_ps() * static_cast<std::int64_t>(ranks));
      if (site.time > least) profile_.waited_for.push_back({i, site.time - least});
    }
    std::ranges::stable_sort(profile_.waited_for, std::greater<>(), &WaitedFor::waited);
    std::sort(profile_.matrix.begin(), profile_.matrix.end(),
              [](const MatrixEntry& x, const MatrixEntry& y) {
                return std::tuple(x.from.value, x.to.value) < std::tuple(y.from.value, y.to.value);
              });
  }

  const trace::CallCounters& counters_;
  const FindPlace& find_place_;
  CallProfile profile_;
  SpreadSum time_;
  SpreadSum application_;
  SpreadSum mpi_;
  SpreadSum own_;
  std::map<std::uint16_t, Gathering> functions_;
  std::map<SiteKey, Gathering> sites_;
  std::map<std::tuple<SiteKey, std::int32_t, std::int32_t>, SenderTotal> senders_;
  std::map<CommKey, std::string> comm_names_;
  std::map<std::string, CommTotal> comms_;
  std::map<SizeKey, SizeTotal> sizes_;
};

}  // namespace

double Spread::imbalance() const {
  return mean > Time() ? max.seconds() / mean.seconds() - 1 : 0;
}

CallProfile make_call_profile(const trace::CallCounters& counters, const FindPlace& find_place) {
  return Maker(counters, find_place).make();
}

}  // namespace foretrace::analysis
