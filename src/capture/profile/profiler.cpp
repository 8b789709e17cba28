#include "capture/profile/profiler.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/loaded_object.hpp"
#include "capture/handlers/comm_table.hpp"
#include "capture/predict/yielding.hpp"
#include "capture/session/forks.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/session.hpp"
#include "capture/session/start_up.hpp"

namespace foretrace::capture {

using callers::CallPoint;
using callers::Chain;
using callers::PythonLines;
using callers::StackWalker;

Profiler profiler;
bool profiling = false;

namespace {

using trace::ChunkKind;
using trace::Direction;

constexpr std::uint32_t kMostSites = 1u << 16;
constexpr std::uint32_t kMostSizes = 1u << 16;
constexpr std::uint32_t kMostPeers = 1u << 20;
constexpr std::uint32_t kMostWaits = 1u << 16;
constexpr std::uint32_t kMostObjects = 256;
constexpr std::uint32_t kMostCallsBetweenClocks = 1u << 16;

std::uint64_t size_key(std::uint16_t function, std::uint16_t comm, Direction direction,
                       std::uint8_t bin) {
  return static_cast<std::uint64_t>(function) << 32 | static_cast<std::uint64_t>(comm) << 16 |
         static_cast<std::uint64_t>(direction) << 8 | bin;
}

std::uint64_t size_key(const trace::SizeRecord& size) {
  return size_key(size.function, size.comm, size.direction, size.bin);
}

std::uint64_t key_of(Fn fn, const Chain& chain) {
  return trace::key_of(static_cast<std::uint32_t>(fn), chain.frames.data(), chain.depth);
}

template <std::size_t N>
void copy_text(std::array<char, N>& room, const std::string& text) {
  std::memcpy(room.data(), text.data(), std::min(text.size(), N - 1));
}

}  // namespace

void Profiler::read_both_clocks(std::uint64_t& ticks, std::uint64_t& ns) const {
  ns = static_cast<std::uint64_t>(monotonic_ns());
  ticks = read_ticks(even_counter_);
}

void Profiler::start(const Settings& settings) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (runs_alone(ranks)) return;
  make_own_comm();
  depth_ = settings.depth;
  walker_ = StackWalker(depth_, &profiling);
  output_ = settings.output;
  even_counter_ = has_even_counter();
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  several_threads_ = level == MPI_THREAD_MULTIPLE;
  initial_thread = true;
  if (!all_agree(true)) return free_own_comm();
  const bool shares_cores = begin_yielding(settings.yield);
  if (!open_file(settings)) return free_own_comm();
  rank_->shares_cores = shares_cores ? 1 : 0;
  calibrate();
  // A Python program is looked at while it has the interpreter's lock.
  if (note_extension(reinterpret_cast<std::uint64_t>(program_call.address))) {
    std::uint64_t line = 0;
    python_->find(&line, 1);
  }
  PMPI_Barrier(own_comm);
  read_both_clocks(rank_->second_ticks, rank_->second_ns);
  rank_->first_ticks = rank_->last_ticks = read_ticks(even_counter_);
  rank_->first_ns = static_cast<std::uint64_t>(monotonic_ns());
  since_clocks_ = 0;
  calls_between_clocks_ = 1;
  if (!settings.start_logging) off_since_ = rank_->first_ticks;
  let_children_go();
  rank_->state = trace::RankState::running;
  profiling = true;
}

bool Profiler::open_file(const Settings& settings) {
  const std::string part = settings.output + ".part";
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string problem;
  const auto attempt = [&problem](auto action) {
    try {
      if (problem.empty()) action();
    } catch (const Error& error) {
      problem = error.what();
    }
  };
  if (world_rank_ == 0)
    attempt([&] {
      trace::CountersInfo info;
      info.ranks = ranks;
      info.program = command_line();
      info.mpi = FORETRACE_MPI_NAME;
      info.functions.assign(std::begin(kFunctionNames), std::end(kFunctionNames));
      file_ = trace::create_counters_file(part, info);
    });
  PMPI_Barrier(own_comm);
  attempt([&] { writer_ = trace::CountersWriter(part, world_rank_); });
  attempt([&] {
    if (!start_tables(ranks))
      throw Error(part + ": cannot write the profile: " + std::strerror(writer_.error()));
  });
  const bool all_good = all_agree(problem.empty());
  if (all_good) return true;
  rank_ = nullptr;
  writer_.close();
  // One line is enough: the first rank with a problem says it.
  int first = problem.empty() ? ranks : world_rank_;
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, own_comm);
  if (first == world_rank_) say(problem + "; the program runs on without Foretrace");
  if (world_rank_ != 0) return false;
  file_.remove(part);
  leave_empty(part);
  return false;
}

bool Profiler::start_tables(int ranks) {
  rank_ = static_cast<trace::RankRecord*>(
      writer_.append(ChunkKind::rank, 1, sizeof(trace::RankRecord)));
  if (!rank_) return false;
  *rank_ = trace::RankRecord();
  rank_->used = 1;
  rank_->state = trace::RankState::none;
  rank_->several_threads = several_threads_ ? 1 : 0;
  rank_->depth = static_cast<std::uint32_t>(depth_);
  rank_->pid = static_cast<std::uint32_t>(::getpid());
  ::gethostname(rank_->host.data(), rank_->host.size() - 1);
  trace::CountersWriter::publish(rank_, nullptr);
  const auto peers = std::bit_ceil(static_cast<std::uint32_t>(std::clamp(2 * ranks, 16, 128)));
  return sites_.start(writer_, ChunkKind::sites, 256, kMostSites) &&
         sizes_.start(writer_, ChunkKind::sizes, 256, kMostSizes) &&
         peers_.start(writer_, ChunkKind::peers, peers, kMostPeers) &&
         waits_.start(writer_, ChunkKind::waits, 64, kMostWaits) &&
         objects_.start(writer_, ChunkKind::objects, 8, kMostObjects) && comms_.start(writer_);
}

// What a call costs that does nothing, and what its message costs. The tables
// are as before when it is over.
void Profiler::calibrate() {
  constexpr int kBlocks = 64;
  constexpr int kCalls = 16;
  const CallPoint here{__builtin_return_address(0), __builtin_dwarf_cfa()};
  const auto median = [](std::array<double, kBlocks>& values) {
    std::nth_element(values.begin(), values.begin() + kBlocks / 2, values.end());
    return values[kBlocks / 2];
  };
  std::array<double, kBlocks> inside;
  std::array<double, kBlocks> whole;
  std::array<double, kBlocks> with_message;
  read_both_clocks(rank_->first_ticks, rank_->first_ns);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    std::uint64_t within = 0;
    const std::uint64_t begin = read_ticks(even_counter_);
    for (int i = 0; i < kCalls; ++i) {
      OpenCall call;
      this->begin(call, Fn::MPI_Send, here);
      end(call);
      within += call.ticks;
    }
    const std::uint64_t middle = read_ticks(even_counter_);
    for (int i = 0; i < kCalls; ++i) {
      OpenCall call;
      this->begin(call, Fn::MPI_Send, here);
      end(call);
      message(call, 8, world_rank_, MPI_COMM_WORLD);
    }
    const std::uint64_t last = read_ticks(even_counter_);
    inside[block] = static_cast<double>(within) / kCalls;
    whole[block] = static_cast<double>(middle - begin) / kCalls;
    with_message[block] = static_cast<double>(last - middle) / kCalls;
  }
  rank_->inside_ticks = median(inside);
  rank_->outside_ticks = std::max(median(whole) - rank_->inside_ticks, 0.0);
  rank_->message_ticks =
      std::max(median(with_message) - rank_->inside_ticks - rank_->outside_ticks, 0.0);
  sites_.clear();
  sizes_.clear();
  peers_.clear();
  rank_->own_ticks = 0;
  rank_->main_ticks = 0;
}

void Profiler::stop() {
  if (!rank_) return;
  profiling = false;
  control(1);
  read_both_clocks(rank_->second_ticks, rank_->second_ns);
  rank_->last_ticks = rank_->second_ticks;
  rank_->state = trace::RankState::finalized;
  const std::uint64_t lost = rank_->lost;
  rank_ = nullptr;
  writer_.close();
  if (lost > 0)
    say("rank " + std::to_string(world_rank_) + ": " + std::to_string(lost) +
        " calls are counted without their call site, message size or partner: " +
        (writer_.error() ? std::strerror(writer_.error()) : "there are too many different ones"));
  PMPI_Barrier(own_comm);
  free_own_comm();
  if (world_rank_ != 0) return;
  const std::string part = output_ + ".part";
  try {
    trace::CallCounters counters = trace::read_counters(part);
    counters.info.complete = true;
    trace::write_counters(counters, output_);
    std::filesystem::remove(part);
  } catch (const Error& error) {
    std::error_code ignored;
    std::filesystem::rename(part, output_, ignored);
    say(std::string(error.what()) + "; the profile can be read as it is");
  }
  file_.let_go();
}

void Profiler::abort(int code) {
  if (!profiling) return;
  profiling = false;
  rank_->state = trace::RankState::aborted;
  rank_->code = code;
  read_both_clocks(rank_->second_ticks, rank_->second_ns);
  rank_->last_ticks = rank_->second_ticks;
}

void Profiler::leave_to_parent() {
  profiling = false;
  rank_ = nullptr;
  writer_.close();
  file_.let_go();
}

void Profiler::control(int level) {
  const Lock lock(*this);
  const std::uint64_t now = read_ticks(even_counter_);
  if (level == 0 && off_since_ == 0) {
    off_since_ = now;
  } else if (level == 1 && off_since_ != 0) {
    rank_->off_ticks += now - off_since_;
    off_since_ = 0;
  }
}

trace::SiteRecord* Profiler::find_site(Fn fn, const Chain& chain) const {
  const auto same = [&](const trace::SiteRecord& site) {
    return site.function == static_cast<std::uint16_t>(fn) && site.depth == chain.depth &&
           std::equal(site.frames.begin(), site.frames.begin() + chain.depth, chain.frames.begin());
  };
  return sites_.find(key_of(fn, chain), same);
}

// Whether the call is made by a library that Python programs call.
bool Profiler::by_python(std::uint64_t address) const {
  return std::ranges::any_of(extensions_, [address](const Extent& extent) {
    return address > extent.base && address <= extent.end;
  });
}

// Whether one more such library is known now: that of `address`.
bool Profiler::note_extension(std::uint64_t address) {
  if (by_python(address)) return false;
  bool noted = false;
  for_each_object([&](const LoadedObject& object) {
    if (!object.holds_return_to(address) || !PythonLines::is_extension(object.file_name())) return;
    extensions_.push_back({object.base(), object.end()});
    noted = true;
  });
  if (noted && !python_) python_ = std::make_unique<PythonLines>();
  return noted;
}

trace::SiteRecord* Profiler::site_of(Fn fn, const CallPoint& point) {
  const auto address = reinterpret_cast<std::uint64_t>(point.address);
  const auto cfa = reinterpret_cast<std::uint64_t>(point.cfa);
  Chain chain;
  if (!extensions_.empty() && by_python(address)) {
    chain.depth = python_->find(chain.frames.data(), static_cast<std::uint32_t>(depth_));
    trace::SiteRecord* const site = chain.depth > 0 ? find_site(fn, chain) : nullptr;
    if (site || chain.depth > 0) return site ? site : new_site(fn, chain);
  }
  if (depth_ == 1) {
    chain.depth = 1;
    chain.frames[0] = address;
    if (trace::SiteRecord* site = find_site(fn, chain)) return site;
  }
  if (walker_.guess(address, cfa, chain))
    if (trace::SiteRecord* site = find_site(fn, chain)) return site;
  const std::uint64_t begin = read_ticks(even_counter_);
  walker_.unwind(address, cfa, chain);
  trace::SiteRecord* site = find_site(fn, chain);
  if (!site && note_extension(address)) return site_of(fn, point);
  if (!site) site = new_site(fn, chain);
  rank_->own_ticks += read_ticks(even_counter_) - begin;
  return site;
}

// Where the table is full: the function's calls from everywhere.
trace::SiteRecord* Profiler::new_site(Fn fn, const Chain& chain) {
  const auto add = [&](const Chain& of) {
    const auto hash = [](const trace::SiteRecord& record) { return trace::key_of(record); };
    trace::SiteRecord* site = sites_.add(key_of(fn, of), hash);
    if (site) {
      site->function = static_cast<std::uint16_t>(fn);
      site->depth = of.depth;
      site->frames = of.frames;
    }
    return site;
  };
  for (std::uint32_t i = 0; i < chain.depth; ++i) remember_object(chain.frames[i]);
  if (trace::SiteRecord* site = add(chain)) return site;
  ++rank_->lost;
  const Chain everywhere;
  if (trace::SiteRecord* site = find_site(fn, everywhere)) return site;
  return add(everywhere);
}

void Profiler::remember_object(std::uint64_t address) {
  for (std::uint32_t i = 0; i < objects_.slots(); ++i)
    if (objects_[i].used && address > objects_[i].base && address <= objects_[i].end) return;
  const auto add = [this](std::uint64_t base, std::uint64_t end, const std::string& path) {
    const auto hash = [](const trace::ObjectRecord& record) { return record.base >> 12; };
    trace::ObjectRecord* record = objects_.add(base >> 12, hash);
    if (!record) return;
    record->base = base;
    record->end = end;
    copy_text(record->path, path);
  };
  if (PythonLines::is_line(address)) {
    const std::uint64_t base = address & ~(PythonLines::kLines - 1);
    return add(base, base + PythonLines::kLines - 1, python_->site(address).object);
  }
  for_each_object([&](const LoadedObject& object) {
    if (object.holds_return_to(address)) add(object.base(), object.end(), object.file());
  });
}

void Profiler::begin(OpenCall& call, Fn fn, const CallPoint& point) {
  {
    const Lock lock(*this);
    if (off_since_ != 0) return;
    call.site = site_of(fn, point);
    if (!call.site) {
      ++rank_->lost;
      return;
    }
    call.slots = sites_.slots();
    call.fn = fn;
    if (!several_threads_) rank_->open_site = sites_.index_of(*call.site) + 1;
  }
  call.begin = read_ticks(even_counter_);
  rank_->open_since = call.begin;
}

// Another thread may have let the table grow since; the old one is still there.
trace::SiteRecord& Profiler::current_site(OpenCall& call) const {
  if (call.slots != sites_.slots()) {
    Chain chain;
    chain.depth = call.site->depth;
    chain.frames = call.site->frames;
    call.site = find_site(call.fn, chain);
    call.slots = sites_.slots();
  }
  return *call.site;
}

void Profiler::end(OpenCall& call) {
  const std::uint64_t now = read_ticks(even_counter_);
  call.ticks = now - call.begin;
  const Lock lock(*this);
  trace::SiteRecord& site = current_site(call);
  ++site.calls;
  site.ticks += call.ticks;
  site.longest = std::max(site.longest, call.ticks);
  rank_->last_ticks = now;
  rank_->open_site = 0;
  if (several_threads_ && initial_thread) rank_->main_ticks += call.ticks;
  if (++since_clocks_ >= calls_between_clocks_) {
    since_clocks_ = 0;
    calls_between_clocks_ = std::min(2 * calls_between_clocks_, kMostCallsBetweenClocks);
    read_both_clocks(rank_->second_ticks, rank_->second_ns);
  }
}

void Profiler::count_size(OpenCall& call, Direction direction, std::uint64_t bytes,
                          const ProfiledComm* comm) {
  const auto function = static_cast<std::uint16_t>(call.fn);
  const std::uint16_t number = comm ? comm->number : 0;
  const auto bin = static_cast<std::uint8_t>(std::bit_width(bytes));
  const std::uint64_t key = size_key(function, number, direction, bin);
  trace::SizeRecord* size = sizes_.find(trace::mixed(key), [key](const trace::SizeRecord& record) {
    return size_key(record) == key;
  });
  if (!size) {
    const auto hash = [](const trace::SizeRecord& record) {
      return trace::mixed(size_key(record));
    };
    size = sizes_.add(trace::mixed(key), hash);
    if (!size) {
      ++rank_->lost;
      return;
    }
    size->function = function;
    size->comm = number;
    size->direction = direction;
    size->bin = bin;
  }
  ++size->calls;
  size->bytes += bytes;
  if (!call.timed) size->ticks += call.ticks;
  call.timed = true;
  trace::SiteRecord& site = current_site(call);
  if (direction == Direction::sent) site.sent += bytes;
  if (direction == Direction::received) site.received += bytes;
  if (direction == Direction::collective) site.collective += bytes;
}

void Profiler::adopt(MPI_Comm comm) {
  const Lock lock(*this);
  comms_.adopt(comm);
}

void Profiler::adopt_like(MPI_Comm comm, MPI_Comm parent) {
  const Lock lock(*this);
  comms_.adopt_like(comm, parent);
}

void Profiler::forget_comm(MPI_Comm comm) {
  const Lock lock(*this);
  comms_.forget(comm);
}

void Profiler::name(MPI_Comm comm, const char* name) {
  const Lock lock(*this);
  comms_.name(comm, name);
}

mpi_api::CommShape Profiler::shape(MPI_Comm comm) {
  const Lock lock(*this);
  const ProfiledComm* known = comms_.find(comm);
  return known ? known->shape : mpi_api::CommShape{1, 0, false};
}

}  // namespace foretrace::capture
