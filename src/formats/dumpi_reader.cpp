// DUMPI in: NAME.meta and, of each rank, NAME-NNNN.txt as dumpi2ascii -a makes it. Every rank is
// read twice: first for what it made communicators of, its datatypes and when it began.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "formats/dumpi_comms.hpp"
#include "formats/dumpi_text.hpp"
#include "formats/formats.hpp"
#include "formats/paraver_common.hpp"
#include "formats/rank_events.hpp"
#include "trace/new_trace.hpp"

namespace foretrace::formats {
namespace {

using machine::Cost;
using Sizes = std::map<std::int64_t, std::uint64_t>;

constexpr int kMostRanks = 1 << 20;
constexpr std::uint64_t kMostSize = std::uint64_t{1}
                                    << 31;  // of a datatype that others are made of
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::int64_t kAny = -1;  // source and tag

// By DUMPI's numbers of datatypes, as 64-bit machines have them, where the file does not say.
constexpr std::uint64_t kUsualSizes[] = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                         8, 16, 8, 8, 8, 1, 0, 0, 8, 16, 16, 8, 8, 32};

bool is_init(const DumpiCall& call) {
  return call.name == "MPI_Init" || call.name == "MPI_Init_thread";
}

// What communicators are made of others by.
std::optional<DumpiCreation> creation_in(const DumpiCall& call) {
  const bool makes = call.name == "MPI_Comm_dup" || call.name == "MPI_Comm_split" ||
                     call.name == "MPI_Comm_create" || call.name == "MPI_Cart_create" ||
                     call.name == "MPI_Graph_create";
  if (!makes || !call.whole) return std::nullopt;
  DumpiCreation made{call.number("oldcomm"), call.number("newcomm")};
  if (call.name == "MPI_Comm_split")
    made.color = call.number("color"), made.key = call.number("key");
  return made;
}

std::optional<Cost> cost_called(const DumpiCall& call) {
  if (call.name == "MPI_Cart_create" || call.name == "MPI_Graph_create") return Cost::comm_create;
  return collective_called(call.name);
}

// What the first reading finds of a rank.
struct Survey {
  Time init_enter, init_leave, last;
  bool has_init = false;
  Sizes own_sizes;  // of datatypes that the rank has made
};

struct Posted {
  bool sends = false;
  bool persistent = false;
  bool nobody = false;  // MPI_PROC_NULL
  bool wildcard = false;
  std::size_t comm = 0;
  ForeignMessage message;
};

class RankInput {
 public:
  RankInput(int rank, const DumpiComms& comms, const Sizes& sizes, const Survey& survey,
            RankEvents& events, Missing& missing)
      : rank_(rank),
        comms_(comms),
        sizes_(sizes),
        survey_(survey),
        events_(events),
        missing_(missing) {}

  // `start`: the run's, on the rank's clock. False: the file ends within a call.
  bool read(DumpiText& text, Time start) {
    DumpiCall call;
    bool begun = !survey_.has_init;
    while (text.next(call)) {
      begun = begun || is_init(call);
      if (!begun) continue;
      if (call.thread != 0) {
        missing_.add("a call of another thread than a rank's first; it is left out");
        continue;
      }
      try {
        if (!take(call, start)) return false;
      } catch (const Error& error) {
        text.refuse(error.what());
      }
    }
    return true;
  }

 private:
  bool take(const DumpiCall& call, Time start) {
    const auto at = [start](Time time) { return std::max(Time(), time - start); };
    if (!call.whole) {
      events_.enter(at(call.enter), call.name, true);
      return false;
    }
    find_message(call);
    events_.enter(at(call.enter), call.name, true, hints_);
    tell(call);
    events_.leave(at(call.leave), call.name, true);
    if (creation_in(call)) ++made_;
    return true;
  }

  std::optional<std::size_t> comm_of(const DumpiCall& call, const char* parameter = "comm") {
    const std::int64_t comm = comms_.find(rank_, call.number(parameter), made_);
    if (comm >= 0) return static_cast<std::size_t>(comm);
    missing_.add("who is in a communicator; " + call.name + " there is a call without partners");
    return std::nullopt;
  }

  WorldRank member(std::size_t comm, std::int64_t local) const {
    const auto& members = comms_.all()[comm].members;
    if (local < 0 || local >= static_cast<std::int64_t>(members.size()))
      throw Error("expected a rank below " + std::to_string(members.size()) + ", found " +
                  std::to_string(local));
    return members[static_cast<std::size_t>(local)];
  }

  std::uint64_t size_of(std::int64_t type) {
    if (const auto own = survey_.own_sizes.find(type); own != survey_.own_sizes.end())
      return own->second;
    if (const auto known = sizes_.find(type); known != sizes_.end()) return known->second;
    missing_.add("the size of a datatype; its elements are taken as one byte each");
    return 1;
  }

  Bytes bytes(const DumpiCall& call, const char* count, const char* type) {
    return times(call.number(count), call.number(type));
  }
  Bytes times(std::int64_t count, std::int64_t type) {
    if (count < 0 || count > kMostElements)
      throw Error("expected a count from 0, found " + std::to_string(count));
    return Bytes(static_cast<std::uint64_t>(count) * size_of(type));
  }
  // Of all partners.
  Bytes total(const DumpiCall& call, const char* counts, const char* type) {
    std::int64_t sum = 0;
    for (const std::int64_t count : call.numbers(counts))
      sum += std::clamp(count, std::int64_t{-1}, kMostElements);
    return times(sum, call.number(type));
  }
  Bytes mean(const DumpiCall& call, const char* counts, const char* type) {
    const std::size_t partners = call.numbers(counts).size();
    return Bytes(total(call, counts, type).count / std::max<std::size_t>(1, partners));
  }

  // The message that a call is about; what of it goes with the call's beginning into hints_.
  void find_message(const DumpiCall& call) {
    hints_ = {};
    send_.reset();
    receive_.reset();
    if (!call.has("comm")) return;
    const bool both = call.has("dest") && call.has("source");
    const bool probes = call.name.ends_with("robe");
    if (probes || (!call.has("dest") && !call.has("source"))) return;
    const auto comm = comm_of(call);
    if (!comm) return;
    const bool replace = both && !call.has("sendcount");
    if (call.has("dest")) {
      const bool own = both && !replace;
      send_ = posted(call, *comm, "dest", both ? "sendtag" : "tag",
                     bytes(call, own ? "sendcount" : "count", own ? "sendtype" : "datatype"));
      send_->sends = true;
    }
    if (call.has("source")) {
      const bool own = both && !replace;
      receive_ = posted(call, *comm, "source", both ? "recvtag" : "tag",
                        bytes(call, own ? "recvcount" : "count", own ? "recvtype" : "datatype"));
      hints_.any_source = call.number("source") == kAny;
      hints_.any_tag = receive_->message.tag == kAny;
      receive_->wildcard = hints_.any_source || hints_.any_tag;
      if (!receive_->wildcard && !receive_->nobody && !both) {
        hints_.comm = *comm;
        hints_.posted = {receive_->message.peer, receive_->message.tag, receive_->message.bytes,
                         false, false};
      }
    }
    for (auto* half : {&send_, &receive_})
      if (*half) (*half)->persistent = call.name.ends_with("_init");
  }

  Posted posted(const DumpiCall& call, std::size_t comm, const char* peer, const char* tag,
                Bytes size) const {
    Posted what;
    what.comm = comm;
    const std::int64_t partner = call.number(peer);
    const bool any = partner == kAny && std::string_view(peer) == "source";
    what.nobody = partner < 0 && !any;
    what.message = {comm, what.nobody || any ? WorldRank() : member(comm, partner),
                    static_cast<std::int32_t>(call.number(tag)), size};
    return what;
  }

  void tell(const DumpiCall& call) {
    if (const auto cost = cost_called(call)) return tell_collective(call, *cost);
    if (call.has("request") && (send_ || receive_)) return post(call);
    if (call.name == "MPI_Start") return start(call.number("request"));
    if (call.name == "MPI_Startall")
      for (const std::int64_t request : call.numbers("requests")) start(request);
    if (call.name.starts_with("MPI_Wait") || call.name.starts_with("MPI_Test"))
      return complete(call);
    if (send_ && !send_->nobody) events_.sent(send_->message);
    if (receive_ && !receive_->nobody) {
      const auto statuses = call.statuses("status");
      if (const auto came = arrived(*receive_, statuses.empty() ? nullptr : &statuses[0]))
        events_.received(*came);
    }
  }

  void post(const DumpiCall& call) {
    const std::int64_t request = call.number("request");
    const Posted& what = send_ ? *send_ : *receive_;
    requests_[request] = what;
    if (!what.persistent) start(request);
  }

  void start(std::int64_t request) {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return missing_.add("what a request is about that was started");
    const Posted& what = found->second;
    if (what.nobody) return;
    if (what.sends)
      events_.posted_send(static_cast<std::uint64_t>(request), what.message);
    else
      events_.posted_receive(static_cast<std::uint64_t>(request));
  }

  // The message that came, by its status where that was written.
  std::optional<ForeignMessage> arrived(const Posted& what, const DumpiStatus* status) {
    ForeignMessage came = what.message;
    if (status != nullptr) {
      if (status->source < 0) return std::nullopt;
      came.peer = member(what.comm, status->source);
      came.tag = static_cast<std::int32_t>(status->tag);
      if (status->bytes >= 0) came.bytes = Bytes(static_cast<std::uint64_t>(status->bytes));
    } else if (what.wildcard) {
      missing_.add("who sent to a receive from anybody (its status was ignored)");
      return std::nullopt;
    }
    return came;
  }

  // Which of a call's requests it completed, and their statuses.
  void complete(const DumpiCall& call) {
    const std::string_view name = std::string_view(call.name).substr(4);
    if (name == "Test_cancelled") return;
    const bool one = name == "Wait" || name == "Test";
    if (call.has("flag") && call.number("flag") == 0) return;
    const auto requests = one ? std::vector{call.number("request")} : call.numbers("requests");
    const auto statuses = call.statuses(call.has("status") ? "status" : "statuses");
    std::vector<std::int64_t> which;
    if (name.ends_with("any")) {
      which.push_back(call.number("index"));
    } else if (name.ends_with("some")) {
      which = call.numbers("indices");
    } else {
      for (std::size_t i = 0; i < requests.size(); ++i)
        which.push_back(static_cast<std::int64_t>(i));
    }
    for (std::size_t i = 0; i < which.size(); ++i)
      if (which[i] >= 0 && which[i] < static_cast<std::int64_t>(requests.size()))
        complete_one(requests[static_cast<std::size_t>(which[i])],
                     i < statuses.size() ? &statuses[i] : nullptr);
  }

  void complete_one(std::int64_t request, const DumpiStatus* status) {
    if (request <= kDumpiNull) return;
    const auto found = requests_.find(request);
    if (found == requests_.end()) return missing_.add("what a request was about");
    const auto number = static_cast<std::uint64_t>(request);
    const Posted& what = found->second;
    if (!what.nobody) {
      if (status != nullptr && status->cancelled && !what.sends)
        events_.cancelled(number);
      else if (what.sends)
        events_.completed(number);
      else if (const auto came = arrived(what, status))
        events_.completed_receive(number, *came);
    }
    if (!what.persistent) requests_.erase(found);
  }

  void tell_collective(const DumpiCall& call, Cost cost) {
    const auto comm = comm_of(call, call.has("oldcomm") ? "oldcomm" : "comm");
    if (!comm) return;
    ForeignCollective what{cost, *comm, {}, Bytes()};
    bool is_root = false;
    if (call.has("root")) {
      is_root = member(*comm, call.number("root")) == WorldRank(rank_);
      what.root = LocalRank(static_cast<std::int32_t>(call.number("root")));
    }
    what.bytes = equation_bytes(call, cost, is_root);
    events_.collective(what);
  }

  // d of the collective's equation.
  Bytes equation_bytes(const DumpiCall& call, Cost cost, bool is_root) {
    switch (cost) {
      case Cost::bcast:
      case Cost::reduce:
      case Cost::allreduce:
      case Cost::scan:
      case Cost::exscan:
        return bytes(call, "count", "datatype");
      case Cost::gather:
      case Cost::allgather:
      case Cost::alltoall:
        return bytes(call, "sendcount", "sendtype");
      case Cost::scatter:
        return is_root ? bytes(call, "sendcount", "sendtype")
                       : bytes(call, "recvcount", "recvtype");
      case Cost::gatherv:
        return is_root ? mean(call, "recvcounts", "recvtype")
                       : bytes(call, "sendcount", "sendtype");
      case Cost::scatterv:
        return is_root ? mean(call, "sendcounts", "sendtype")
                       : bytes(call, "recvcount", "recvtype");
      case Cost::allgatherv:
        return mean(call, "recvcounts", "recvtype");
      case Cost::alltoallv:
        return std::max(mean(call, "sendcounts", "sendtype"), mean(call, "recvcounts", "recvtype"));
      case Cost::reduce_scatter:
        return total(call, "recvcounts", "datatype");
      case Cost::alltoallw:
        missing_.add("the size of MPI_Alltoallw; taken as 0");
        return Bytes();
      default:
        return Bytes();
    }
  }

  int rank_;
  const DumpiComms& comms_;
  const Sizes& sizes_;
  const Survey& survey_;
  RankEvents& events_;
  Missing& missing_;
  std::size_t made_ = 0;  // communicators so far
  CallHints hints_;
  std::optional<Posted> send_, receive_;  // of the call under way
  std::map<std::int64_t, Posted> requests_;
};

class DumpiInput {
 public:
  DumpiInput(const std::string& from, const std::string& to)
      : from_(from), to_(to), ranks_(read_meta()), comms_(ranks_) {
    for (std::size_t type = 2; type < std::size(kUsualSizes); ++type)
      sizes_[static_cast<std::int64_t>(type)] = kUsualSizes[type];
  }

  Notes read() {
    for (int r = 0; r < ranks_; ++r) surveys_.push_back(survey(r));
    if (const std::uint64_t lost = comms_.resolve())
      missing_.add("that all of a communicator made another of it", lost);
    choose_start();
    trace::TraceInfo info;
    info.ranks = ranks_;
    info.clock = trace::Clock::wall;
    info.program = std::filesystem::path(from_).stem().string();
    info.origin = "convert";
    info.options = "from=dumpi";
    trace::NewTrace trace(to_, info);
    bool whole = true;
    for (int r = 0; r < ranks_; ++r) {
      const Survey& found = surveys_[static_cast<std::size_t>(r)];
      const Time start = common_start_.value_or(found.init_leave);
      RankEvents events(trace.start(WorldRank(r)), WorldRank(r), comms_.all(), false, missing_);
      DumpiText text(file_of(r));
      whole = RankInput(r, comms_, sizes_, found, events, missing_).read(text, start) && whole;
      events.finish(std::max(Time(), found.last - start));
    }
    trace.finish(whole);
    return missing_.notes();
  }

 private:
  // "numprocs=4" among other lines.
  int read_meta() const {
    std::ifstream in(from_);
    if (!in) throw Error(from_ + ": cannot open the file");
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      constexpr std::string_view kKey = "numprocs=";
      if (!line.starts_with(kKey)) continue;
      int ranks = 0;
      const auto [end, error] =
          std::from_chars(line.data() + kKey.size(), line.data() + line.size(), ranks);
      if (error != std::errc() || ranks < 1 || ranks > kMostRanks)
        throw Error(from_ + ":" + std::to_string(number) + ": expected numprocs from 1 to " +
                    std::to_string(kMostRanks) + ", found '" + line.substr(0, 40) + "'");
      return ranks;
    }
    throw Error(from_ + ": expected DUMPI's NAME.meta with a line numprocs=N, found none");
  }

  std::string file_of(int rank) const {
    std::string number = std::to_string(rank);
    if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
    return from_.substr(0, from_.size() - std::string_view(".meta").size()) + "-" + number + ".txt";
  }

  Survey survey(int rank) {
    DumpiText text(file_of(rank));
    DumpiCall call;
    Survey found;
    bool any = false;
    while (text.next(call)) {
      if (!any || (is_init(call) && !found.has_init)) {
        found.init_enter = call.enter;
        found.init_leave = is_init(call) ? call.leave : call.enter;
        found.has_init = is_init(call);
      }
      any = true;
      found.last = std::max(found.last, call.leave);
      try {
        if (const auto creation = creation_in(call)) comms_.add(rank, *creation);
        take_type(call, found.own_sizes);
      } catch (const Error& error) {
        text.refuse(error.what());
      }
    }
    if (!any)
      throw Error(file_of(rank) + ": expected calls as dumpi2ascii writes them, found none");
    for (const auto& [type, size] : text.sizes())
      (type < static_cast<std::int64_t>(std::size(kUsualSizes)) ? sizes_ : found.own_sizes)[type] =
          size;
    return found;
  }

  void take_type(const DumpiCall& call, Sizes& own) const {
    const bool vector = call.name == "MPI_Type_vector" || call.name == "MPI_Type_hvector";
    if (!call.whole || (!vector && call.name != "MPI_Type_contiguous")) return;
    const std::int64_t old = call.number("oldtype");
    const Sizes& told = own.contains(old) ? own : sizes_;
    const auto known = told.find(old);
    if (known == told.end()) return;
    std::uint64_t size = known->second;
    for (const char* factor : {"count", "blocklength"}) {
      if (!vector && factor[0] == 'b') continue;
      const std::int64_t times = call.number(factor);
      if (times < 0 || times > std::numeric_limits<std::int32_t>::max() || size > kMostSize) return;
      size *= static_cast<std::uint64_t>(times);
    }
    own[call.number("newtype")] = size;
  }

  // Ranks of one clock are all in MPI_Init at the same time.
  void choose_start() {
    Time last_enter = surveys_.front().init_enter;
    Time first_leave = surveys_.front().init_leave;
    for (const Survey& each : surveys_) {
      last_enter = std::max(last_enter, each.init_enter);
      first_leave = std::min(first_leave, each.init_leave);
    }
    if (last_enter <= first_leave)
      common_start_ = first_leave;
    else
      missing_.add("a clock that the ranks share; the time of each begins when it leaves MPI_Init");
  }

  std::string from_;
  std::string to_;
  int ranks_;
  DumpiComms comms_;
  Sizes sizes_;
  std::vector<Survey> surveys_;
  std::optional<Time> common_start_;
  Missing missing_;
};

}  // namespace

Notes read_dumpi(const std::string& from, const std::string& to) {
  if (!from.ends_with(".meta"))
    throw Error(from + ": expected DUMPI's NAME.meta, beside which NAME-0000.txt ... lie");
  return DumpiInput(from, to).read();
}

}  // namespace foretrace::formats
