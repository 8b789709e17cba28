#include "live/live_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ranges>
#include <thread>

#include "base/error.hpp"
#include "shared/context.hpp"
#include "shared/heap.hpp"
#include "shared/horizon.hpp"
#include "shared/looks.hpp"
#include "shared/message_costs.hpp"
#include "shared/rewriting.hpp"
#include "shared/site_list.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

// Nothing happened for so long.
constexpr std::chrono::nanoseconds kStall = std::chrono::seconds(1);

int cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

int with_shared_memory(int ranks, int cores, int spare) {
  SharedMemory::create(ranks, cores, spare);
  heap::begin(-1);
  sites::begin();
  return ranks;
}

trace::Endpoint endpoint(std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
  trace::Endpoint end;
  if (peer >= 0) end.peer = WorldRank(peer);
  end.tag = tag;
  end.bytes = Bytes(bytes);
  return end;
}

bool is_collective(EventKind kind) {
  return kind == EventKind::collective || kind == EventKind::icollective;
}

bool is_message(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::isend || kind == EventKind::recv ||
         kind == EventKind::irecv || kind == EventKind::sendrecv;
}

// When its turn comes, after postings of all other ranks, it is in the cache.
void fetch(const Record& record) {
  const auto* const lines = reinterpret_cast<const char*>(&record);
  for (std::size_t at = 0; at < sizeof record; at += 64) __builtin_prefetch(lines + at);
}

// In how many it lies.
std::uint32_t postings_of(const Record& record) {
  return record.posting == Posting::vain_looks ? postings_of_vain(record.list_count) : 1;
}

Result result_of(const trace::Completion& completion) {
  Result result;
  result.request = completion.request;
  result.source = completion.source.valid() ? completion.source.value : -1;
  result.tag = completion.tag;
  result.bytes = completion.bytes.count;
  result.cancelled = completion.cancelled;
  return result;
}

}  // namespace

LiveSource::LiveSource(const Command& command, int ranks, int spare, Measured measured,
                       const std::vector<std::int32_t>& nodes, Bytes eager)
    : cores_(cores()),
      counted_since_(std::chrono::steady_clock::now()),
      ranks_(with_shared_memory(ranks, cores_, spare)),
      processes_(command, ranks - spare),
      hint_(command.hint),
      states_(static_cast<std::size_t>(ranks)),
      comms_of_(static_cast<std::size_t>(ranks)),
      standstill_(ranks, ranks - spare) {
  SharedMemory::header().measured = measured;
  SharedMemory::header().eager_bytes = eager.count;
  const char* const ahead = std::getenv(kAheadVariable);
  SharedMemory::header().run_ahead = !ahead || std::strcmp(ahead, "off") != 0;
  trace::Communicator world;
  world.members.resize(static_cast<std::size_t>(ranks - spare));
  for (int r = 0; r < ranks - spare; ++r) world.members[static_cast<std::size_t>(r)] = WorldRank(r);
  comms_.push_back(std::move(world));
  for (int r = 0; r < ranks; ++r) {
    trace::Communicator self;
    self.key = static_cast<std::uint64_t>(r) << 32 | UINT32_MAX;
    self.members.push_back(WorldRank(r));
    comms_.push_back(std::move(self));
    SharedMemory::slot(r).slower = 1;
  }
  comm_states_.resize(comms_.size());
  for (std::size_t r = 0; r < nodes.size(); ++r)
    SharedMemory::slot(static_cast<int>(r)).node = nodes[r];
  SharedMemory::header().launcher = command.launcher;
  place_world(0, ranks - spare);
}

// Tells the ranks of a world, of which `first` is the first, where they are in it.
void LiveSource::place_world(int first, int size) {
  std::unordered_map<std::int32_t, std::int32_t> on_node;
  for (int r = first; r < first + size; ++r) {
    Slot& slot = SharedMemory::slot(r);
    slot.world = {r - first, size, on_node[slot.node]++, 0, SharedMemory::header().ranks};
  }
  for (int r = first; r < first + size; ++r) {
    Slot& slot = SharedMemory::slot(r);
    slot.world.local_size = on_node[slot.node];
  }
}

void LiveSource::begin(const sim::ClockRules& rules) {
  Header& header = SharedMemory::header();
  header.by_steps = rules.by_steps;
  header.compute_scale = rules.scale;
  header.compute_step = rules.timing->model().compute_step;
  if (const double tick = rules.timing->model().timer_resolution; tick > 0) header.tick = tick;
  for (std::size_t rank = 0; rank < rules.slower.size(); ++rank)
    SharedMemory::slot(static_cast<int>(rank)).slower = rules.slower[rank];
  header.tells_compute.store(!rules.by_rule, std::memory_order_release);
  // It is added to what ranks compute, which is scaled later.
  if (!rules.by_steps && !rules.by_rule && rules.scale > 0)
    rewriting::begin(rules.timing->on(machine::Path::node), 1 / rules.scale);
  header.knows_pieces = rules.timing->knows_pieces();
  header.asks_of_data = rules.timing->knows_untouched() || rewriting::is_known();
  const bool follows = header.run_ahead && !rules.by_rule;
  if (follows) timing_ = rules.timing;
  by_size_ = follows && rules.by_size;
  if (by_size_) message_costs::begin();
  if (by_size_ && header.ranks == header.world) horizon::begin(ranks_, rules.least_transfer);
}

bool LiveSource::ready(WorldRank rank) const {
  const Rank& state = states_[static_cast<std::size_t>(rank.value)];
  return state.gone || state.finalized || ready_to_read(rank);
}

bool LiveSource::ready_to_read(WorldRank rank) const {
  const Slot& line = slot(rank);
  return line.posted.load(std::memory_order_acquire) != line.taken.load(std::memory_order_relaxed);
}

void LiveSource::look_after_processes() {
  for (const Ended& end : processes_.ended()) {
    Slot& line = SharedMemory::slot(end.rank);
    Rank& of = states_[static_cast<std::size_t>(end.rank)];
    of.gone = true;
    line.posted.fetch_add(line.held_back.exchange(0));
    of.end = end;
    standstill_.leaves(WorldRank(end.rank));
    if (!died_ && died(WorldRank(end.rank))) died_ = std::chrono::steady_clock::now();
    count_running(-line.cores.exchange(0));
  }
  processes_.start_more();
}

void LiveSource::go_on(WorldRank rank) {
  let_go_on(rank.value);
}

// Now and then looks whether the ranks had better all be on one core.
void LiveSource::choose_cores() {
  const std::uint32_t hand_overs =
      SharedMemory::header().hand_overs.load(std::memory_order_relaxed);
  if (hand_overs - hand_overs_ < kHandOverSample) return;
  hand_overs_ = hand_overs;
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t count = std::exchange(taken_, 0);
  const auto passed = now - std::exchange(counted_since_, now);
  // While they start, or wait for one that has no core, they are not at work.
  if (count == 0 || cores_ == 1 || lent_cores_ != 0 || processes_.started() != processes_.wanted())
    return;
  const bool together = core_choice_.together_after(passed / count);
  if (together == (followed_ != 0)) return;
  occupy_core(false);
  run_together(together, cores_);
  follow_core(followed_);
}

// On the core that all ranks share, none runs before the simulator has done what it
// can: then each finds more to do.
void LiveSource::occupy_core(bool occupy) {
  if (std::exchange(occupies_core_, occupy) != occupy) live::occupy_core(occupy);
}

bool LiveSource::sleep(std::uint32_t bell, std::chrono::nanoseconds most) {
  choose_cores();
  occupy_core(false);
  const bool rang = wait_for_bell(bell, most);
  occupy_core(followed_ != 0 && processes_.started() == processes_.wanted());
  return rang;
}

void LiveSource::wait_for(WorldRank rank) {
  Header& header = SharedMemory::header();
  for (;;) {
    const std::uint32_t bell = header.bell.load(std::memory_order_acquire);
    look_after_processes();
    if (ready(rank)) break;
    end_if_dead();
    if (sleep(bell, died_ ? kGrace : kStall)) continue;
    if (stalled()) lend_core();
    if (stalls_ * kStall >= kLongSilence && tell_silence_)
      std::exchange(tell_silence_, nullptr)(rank);
  }
  take_back_cores();
}

// Whether no rank has posted anything for a second, though others wait for a core:
// those that run may wait for these, by other means than MPI. If they compute
// meanwhile, they may also have much to do: then only after ten.
bool LiveSource::stalled() {
  constexpr int kBusy = 10;
  const auto ticks_a_second = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 4L));
  std::uint64_t postings = 0, ticks = 0;
  for (int r = 0; r < ranks_; ++r) {
    const Slot& slot = SharedMemory::slot(r);
    postings += slot.posted.load();
    if (slot.cores.load() > 0) ticks += cpu_ticks(slot.process);
  }
  const bool computed = ticks - std::exchange(ticks_, ticks) > ticks_a_second / 4;
  if (std::exchange(postings_, postings) != postings) {
    stalls_ = 0;
    return false;
  }
  ++stalls_;
  return (!computed || stalls_ % kBusy == 0) &&
         (processes_.started() < processes_.wanted() || some_wait_for_core());
}

// One more rank runs than there are cores.
void LiveSource::lend_core() {
  ++lent_cores_;
  SharedMemory::header().lendings.fetch_add(1);
  change_cores(+1);
}

void LiveSource::take_back_cores() {
  if (lent_cores_ == 0) return;
  change_cores(-std::exchange(lent_cores_, 0));
}

// A rank has died, and the engine does not come to it: the one that it waits for
// may compute for ever.
void LiveSource::end_if_dead() {
  heed_signals();
  if (!died_ || std::chrono::steady_clock::now() - *died_ < kGrace) return;
  for (int r = 0; r < ranks_; ++r) {
    sim::Operation operation;
    if (!died(WorldRank(r))) continue;
    end_of(WorldRank(r), operation);
    throw RunEnded{state(WorldRank(r)).record.code, std::exchange(message_, {})};
  }
}

bool LiveSource::next(WorldRank rank, sim::Operation& operation) {
  heed_signals();
  for (;;) {
    if (!ready(rank)) wait_for(rank);
    Slot& line = slot(rank);
    const std::uint32_t at = line.taken.load(std::memory_order_relaxed);
    if (at == line.posted.load(std::memory_order_acquire)) return end_of(rank, operation);
    // While the run lasts: what local calls take is asked of its rules.
    if (names_.empty() && SharedMemory::header().names.load(std::memory_order_acquire) != 0)
      read_names();
    state(rank).record = line.posting(at);
    fetch(line.posting(at + 1));
    const bool is_operation = treat(rank, operation);
    taken_ += postings_of(state(rank).record);
    for (std::uint32_t left = postings_of(state(rank).record); left > 0; --left)
      if (make_room(rank.value)) go_on(rank);
    if (!is_operation) continue;
    if (tell_operation_) tell_operation_(rank, operation);
    return true;
  }
}

// The record at hand; false if it is none for the engine.
bool LiveSource::treat(WorldRank rank, sim::Operation& operation) {
  Rank& of = state(rank);
  const Record& record = of.record;
  switch (record.posting) {
    case Posting::comm:
    case Posting::joint_comm:
      slot(rank).answer.context = comm_for(rank, record);
      answer(rank, slot(rank).taken + 1);
      return false;
    case Posting::catch_up:
      slot(rank).answer.clock = of.clock.count_ps();
      answer(rank, slot(rank).taken + 1);
      return false;
    case Posting::free:
      if (++comm_state(record.comm).freed == comms_.at(record.comm).members.size())
        free_comm(record.comm);
      return false;
    case Posting::name: {
      std::string text(SharedMemory::at<char>(record.list), record.list_count);
      heap::free(record.list);
      read_names();
      const auto [entry, added] =
          own_names_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
      if (added) names_.push_back(text);
      of.names.push_back(entry->second);
      return false;
    }
    case Posting::vain_looks:
      read_vain_looks(rank);
      break;
    case Posting::operation:
    case Posting::spawn:
      break;
  }
  fill(rank, record, operation);
  if (!is_look(record) && !reads_clock(operation)) standstill_.asks(rank);
  return true;
}

void LiveSource::read_vain_looks(WorldRank rank) {
  Rank& of = state(rank);
  Slot& line = slot(rank);
  const std::uint32_t at = line.taken.load(std::memory_order_relaxed);
  of.vains.clear();
  for (std::uint32_t i = 0; i < of.record.list_count; ++i) {
    const VainLook& look = line.vain_look(at, i);
    of.vains.push_back({Time::ps(look.compute), Time::ps(look.patience)});
  }
}

void LiveSource::fill(WorldRank rank, const Record& record, sim::Operation& operation) {
  Rank& of = state(rank);
  operation = sim::Operation();
  operation.kind = static_cast<EventKind>(record.kind);
  operation.collective = static_cast<machine::Cost>(record.collective);
  operation.completing = static_cast<sim::Completing>(record.completing);
  operation.probing = static_cast<sim::Probing>(record.probing);
  operation.locking = static_cast<sim::Locking>(record.locking);
  operation.name = record.name < kOwnNames ? record.name : of.names.at(record.name - kOwnNames);
  operation.site = of.site = site_number(record.site);
  of.last_name = operation.name;
  of.last_site = operation.site;
  operation.comm = comm_of(record);
  operation.count = record.count;
  operation.silent = record.silent;
  operation.compute = Time::ps(record.compute);
  operation.steps = record.steps;
  if (operation.kind == EventKind::aborted) operation.code = record.code;
  operation.request = record.request;
  if (operation.kind != EventKind::complete) operation.payload = record.payload;
  if (is_collective(operation.kind)) {
    operation.bytes = Bytes(record.bytes);
    operation.send.untouched = record.untouched;
    if (operation.kind == EventKind::collective)
      operation.reduction = static_cast<machine::Reduction>(record.reduction);
    if (record.root >= 0) operation.root = LocalRank(record.root);
  } else if (record.one_sided != 0) {
    operation.one_sided = static_cast<machine::OneSided>(record.one_sided);
    operation.send.peer = WorldRank(record.send_peer);
  } else if (operation.kind != EventKind::complete) {
    if (operation.kind == EventKind::call)
      operation.reduction = static_cast<machine::Reduction>(record.reduction);
    else
      operation.mode = static_cast<machine::SendMode>(record.mode);
    operation.send = endpoint(record.send_peer, record.send_tag, record.send_bytes);
    operation.send.untouched = record.untouched;
    if (operation.kind != EventKind::finalize)  // which says something else there
      operation.recv = endpoint(record.recv_peer, record.recv_tag, record.recv_bytes);
    operation.recv.any_source = record.any_source;
    operation.recv.any_tag = record.any_tag;
    if (is_message(operation.kind)) {
      operation.send.piece = record.send_piece();
      operation.recv.piece = record.recv_piece();
    }
  }
  if (operation.locking != sim::Locking::none)
    operation.lock = record.lock;
  else if (operation.kind == EventKind::call)
    operation.cancel = record.cancel;
  else if (operation.kind == EventKind::recv || operation.kind == EventKind::irecv)
    operation.taken = record.taken;
  if (operation.kind == EventKind::call && operation.probing == sim::Probing::none)
    operation.bytes = Bytes(record.bytes);
  if (operation.kind != EventKind::finalize) operation.patience = Time::ps(record.patience);
  if (record.posting == Posting::vain_looks) {
    operation.kind = EventKind::call;
    operation.in_vain = true;
    operation.vains = of.vains.data();
    operation.vain_count = static_cast<std::uint32_t>(of.vains.size());
  }
  switch (operation.kind) {
    case EventKind::init:
      of.initialized = true;
      break;
    case EventKind::finalize:
      of.finalized = true;
      of.freed_requests = record.let_go;
      note_left(record);
      note_oddities(rank, record);
      break;
    case EventKind::aborted:
      if (record.list != 0) message_.assign(SharedMemory::at<char>(record.list), record.list_count);
      break;
    case EventKind::complete: {
      const std::uint64_t* const numbers =
          record.list != 0 ? SharedMemory::at<std::uint64_t>(record.list) : nullptr;
      of.requests.clear();
      operation.watched = record.watched;
      for (std::uint32_t i = 0; i < record.list_count; ++i)
        of.requests.push_back({numbers ? numbers[i] : record.near_number(i), {}, 0, {}, false});
      if (numbers) heap::free(record.list);
      operation.completions = of.requests;
      break;
    }
    case EventKind::collective:
    case EventKind::icollective:
      if (record.list != 0) {
        const std::span counts(SharedMemory::at<Bytes>(record.list), record.list_count);
        of.counts.assign(counts.begin(), counts.end());
        heap::free(record.list);
        operation.counts = &of.counts;
      }
      enter_collective(rank, record);
      break;
    default:
      break;
  }
}

trace::NameId LiveSource::name_number(std::string_view name) const {
  read_names();
  return static_cast<trace::NameId>(std::ranges::find(names_, name) - names_.begin());
}

void LiveSource::completed(WorldRank rank, const sim::Operation& operation,
                           const sim::Interval& interval, const sim::Outcome& outcome) {
  Rank& of = state(rank);
  if (operation.kind == EventKind::aborted)
    throw RunEnded{of.record.code, std::exchange(message_, {})};
  const Record& record = of.record;
  of.clock = interval.leave;
  if (by_size_) publish_costs(operation, outcome);
  note_end(rank, operation, outcome.message.peer.valid() || !outcome.completions.empty());
  Slot& line = slot(rank);
  Answer& answer = line.answer;
  if (operation.kind == EventKind::collective) answer_collective(record, of.instance, answer);
  if (record.posting == Posting::spawn) spawn(record, answer);
  if (operation.kind == EventKind::finalize) horizon::raise(rank.value, Time::max());
  if (!record.answer) {
    const bool found = outcome.message.peer.valid() || !outcome.completions.empty();
    if (is_look(record) && found != record.foreseen)
      throw Error("rank " + std::to_string(rank.value) +
                  (found ? " found something where it knew of nothing"
                         : " found nothing where it knew of something") +
                  "; this is an error of Foretrace's");
    return;
  }
  answer.in_vain_until = outcome.in_vain_until.count_ps();
  answer.looked = outcome.looked.count_ps();
  answer.clock = interval.leave.count_ps();
  answer.found = outcome.message.peer.valid();
  if (answer.found)
    answer.message = {operation.request,          outcome.message.bytes.count, outcome.payload,
                      outcome.message.peer.value, outcome.message.tag,         false};
  answer.completed = 0;
  if (static_cast<EventKind>(record.kind) == EventKind::complete)
    answer_completions(of, line, outcome);
  const std::uint32_t number = line.taken.load(std::memory_order_relaxed);
  set_answered(rank.value, number);
  horizon::goes_on_at(rank.value, number, interval.leave);
  let_go_on_if_awaits(rank.value, number);
}

void LiveSource::answer(WorldRank rank, std::uint32_t number) {
  set_answered(rank.value, number);
  let_go_on_if_awaits(rank.value, number);
}

void LiveSource::answer_completions(Rank& of, Slot& line, const sim::Outcome& outcome) {
  const std::size_t count = outcome.completions.size();
  Result* results = line.results;
  line.answer.completed = static_cast<std::uint32_t>(count);
  line.answer.results = 0;
  if (count > kTable) {
    line.answer.results = allocate(count * sizeof(Result));
    results = SharedMemory::at<Result>(line.answer.results);
  }
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = result_of(outcome.completions[i]);
    const auto posted = of.posted.find(results[i].request);
    if (posted == of.posted.end()) {
      results[i].payload = outcome.payloads[i];
    } else {
      results[i].payload = posted->second.second;
      of.posted.erase(posted);
    }
  }
}

void LiveSource::read_names() const {
  if (!names_.empty()) return;
  const std::uint64_t place = SharedMemory::header().names.load(std::memory_order_acquire);
  if (place == 0) {
    names_.emplace_back("MPI_Abort");
    return;
  }
  const auto count = *SharedMemory::at<std::uint64_t>(place);
  const char* text = SharedMemory::at<char>(place + sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < count; ++i) {
    names_.emplace_back(text);
    text += names_.back().size() + 1;
  }
  if (timing_) publish_costs(count);
}

std::string_view LiveSource::name(trace::NameId id) const {
  read_names();
  return id < names_.size() ? std::string_view(names_[id]) : std::string_view("?");
}

trace::SiteId LiveSource::site_number(std::uint64_t place) {
  if (place == 0) return 0;
  const std::uint32_t number = SharedMemory::at<sites::Entry>(place)->number;
  if (number > site_places_.size()) site_places_.resize(number);
  site_places_[number - 1] = place;
  return number;
}

const trace::Site& LiveSource::site(trace::SiteId id) const {
  const auto [site, added] = sites_.try_emplace(id);
  if (added) {
    const auto& entry = *SharedMemory::at<sites::Entry>(site_places_.at(id - std::size_t{1}));
    site->second = {std::string(entry.object()), entry.offset};
  }
  return site->second;
}

std::string LiveSource::describe_site(trace::SiteId id) const {
  if (id == 0) return {};
  const trace::Site& place = site(id);
  return symbols::format_place(call_places_.find(place.object, place.offset));
}

std::string LiveSource::place(WorldRank rank) const {
  return describe_site(states_[static_cast<std::size_t>(rank.value)].site);
}

int LiveSource::wait_for_processes() {
  end_if_some_wait();
  Header& header = SharedMemory::header();
  for (;;) {
    const std::uint32_t bell = header.bell.load(std::memory_order_acquire);
    look_after_processes();
    heed_signals();
    if (processes_.started() == processes_.wanted() && processes_.all_ended()) break;
    if (!sleep(bell, kStall) && stalled()) lend_core();
  }
  look_after_processes();
  return first_failure();
}

}  // namespace foretrace::live
