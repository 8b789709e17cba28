#include "explain/posting.hpp"

#include <algorithm>
#include <optional>

namespace foretrace::explain {

using sim::Operation;
using trace::EventKind;

namespace {

// Beyond the requests of any trace, below those of the engine's own.
constexpr std::uint64_t kFirstRequest = std::uint64_t{1} << 60;

bool sends(const Operation& operation) {
  return (operation.kind == EventKind::send || operation.kind == EventKind::isend ||
          operation.kind == EventKind::sendrecv) &&
         operation.send.peer.valid();
}
bool receives(const Operation& operation) {
  return (operation.kind == EventKind::recv || operation.kind == EventKind::irecv ||
          operation.kind == EventKind::sendrecv) &&
         operation.matched && operation.recv.peer.valid();
}

// What a rank does that no message is moved across.
bool bounds(const Operation& operation) {
  switch (operation.kind) {
    case EventKind::init:
    case EventKind::finalize:
    case EventKind::aborted:
    case EventKind::collective:
    case EventKind::icollective:
    case EventKind::phase_begin:
    case EventKind::phase_end:
    case EventKind::probe:
      return true;
    case EventKind::call:
      return operation.probing != sim::Probing::none || operation.locking != sim::Locking::none ||
             operation.cancel != 0 || operation.bytes.count > 0 || operation.send.peer.valid() ||
             operation.one_sided != machine::OneSided::none;
    default:
      return false;
  }
}

// What is needed of a call to tell whether another may be moved across it.
struct Seen {
  bool bound = false;
  bool send = false;
  bool receive = false;
  bool chosen_send = false;
  bool chosen_receive = false;
  trace::CommId comm = 0;
  PlaceKey place;  // its phase is of no use
  trace::Endpoint to;
  trace::Endpoint from;
};

bool is_wild(const trace::Endpoint& from) {
  return from.any_source || from.any_tag;
}
bool could_take_each_other(const Seen& a, const Seen& b) {
  return a.comm == b.comm && (is_wild(a.from) || is_wild(b.from) ||
                              (a.from.peer == b.from.peer && a.from.tag == b.from.tag));
}
bool same_place(const Seen& a, const Seen& b) {
  return a.comm == b.comm && a.place.name == b.place.name && a.place.site == b.place.site;
}
bool same_receive_buffer(const Seen& a, const Seen& b) {
  return a.receive && b.receive && same_place(a, b) && a.from.peer == b.from.peer &&
         a.from.tag == b.from.tag;
}
bool same_send_buffer(const Seen& a, const Seen& b) {
  return a.send && b.send && same_place(a, b) && a.to.peer == b.to.peer && a.to.tag == b.to.tag;
}

// Before a call: before or after the computation that precedes it.
struct Spot {
  std::uint32_t call = 0;
  bool after_computing = false;
  auto operator<=>(const Spot&) const = default;
};

// One rank's calls, and where its messages go.
class Poster {
 public:
  explicit Poster(std::vector<Seen> steps)
      : steps_(std::move(steps)), posted_(steps_.size()), waited_(steps_.size()) {
    // What is never waited for stays as it is.
    for (std::uint32_t call = 0; call < steps_.size(); ++call) {
      Seen& step = steps_[call];
      const bool whole = (!step.chosen_receive || wait_of_receive(call)) &&
                         (!step.chosen_send || wait_of_send(call));
      if (!whole) step.chosen_send = step.chosen_receive = false;
    }
  }

  std::size_t size() const { return steps_.size(); }
  const Seen& step(std::uint32_t call) const { return steps_[call]; }

  // Right before which call it is waited for.
  std::optional<std::uint32_t> wait_of_receive(std::uint32_t call) const {
    return first_after(call, [&](const Seen& later) {
      return later.send || same_receive_buffer(steps_[call], later);
    });
  }
  std::optional<std::uint32_t> wait_of_send(std::uint32_t call) const {
    return first_after(call,
                       [&](const Seen& later) { return same_send_buffer(steps_[call], later); });
  }

  // Where a receive is posted; those of the earlier calls have been asked for.
  Spot post(std::uint32_t call) {
    Spot least;
    for (std::uint32_t passed = call; passed-- > 0;) {
      const Seen& step = steps_[passed];
      const bool in_the_way = step.receive && could_take_each_other(step, steps_[call]);
      const bool has_buffer = step.chosen_receive && same_receive_buffer(step, steps_[call]);
      if (step.bound || (in_the_way && !step.chosen_receive))
        least = std::max(least, Spot{passed + 1, false});
      else if (in_the_way)
        least = std::max(least, has_buffer ? Spot{waited_[passed], true} : posted_[passed]);
      // Whatever is before these is posted and, if it has the buffer, waited for before them.
      if (step.bound || has_buffer) break;
    }
    waited_[call] = *wait_of_receive(call);
    return posted_[call] = least;
  }

 private:
  template <class Stops>
  std::optional<std::uint32_t> first_after(std::uint32_t call, Stops stops) const {
    for (std::size_t later = call + std::size_t{1}; later < steps_.size(); ++later)
      if (steps_[later].bound || stops(steps_[later])) return static_cast<std::uint32_t>(later);
    return std::nullopt;
  }

  std::vector<Seen> steps_;
  std::vector<Spot> posted_;
  std::vector<std::uint32_t> waited_;
};

struct Names {
  trace::NameId isend;
  trace::NameId irecv;
  trace::NameId wait;
  trace::NameId waitall;
};

// What is made right before a call.
struct Additions {
  std::vector<Made> early;
  Made wait;
  std::vector<Made> late;
};

// The new calls of one rank.
class Maker {
 public:
  Maker(WorldRank rank, Poster& poster, const Names& names, Rewrites& rewrites)
      : rank_(rank), poster_(&poster), names_(names), rewrites_(&rewrites) {}

  void replace(std::uint32_t call, const Operation& operation) {
    const Seen& step = poster_->step(call);
    if (!step.chosen_send && !step.chosen_receive) return;
    rewrites_->at(rank_, call).gone = true;
    rewrites_->note_change();
    if (step.chosen_send) {
      Operation posted = operation;
      posted.kind = EventKind::isend;
      posted.name = names_.isend;
      posted.recv = {};
      posted.request = next_request_++;
      additions_[call].late.emplace_back(posted);
      wait_for({posted.request, WorldRank(), 0, Bytes(), false}, *poster_->wait_of_send(call),
               operation);
    }
    if (step.chosen_receive) {
      Operation posted = operation;
      posted.kind = EventKind::irecv;
      posted.mode = machine::SendMode::standard;
      posted.name = names_.irecv;
      posted.send = {};
      posted.request = next_request_++;
      const Spot spot = poster_->post(call);
      Additions& there = additions_[spot.call];
      // The call's own posted send comes after.
      if (!spot.after_computing)
        there.early.emplace_back(posted);
      else if (step.chosen_send && spot.call == call)
        there.late.insert(there.late.end() - 1, Made(posted));
      else
        there.late.emplace_back(posted);
      wait_for(
          {posted.request, operation.recv.peer, operation.recv.tag, operation.recv.bytes, false},
          *poster_->wait_of_receive(call), operation);
    }
  }

  void finish() {
    for (auto& [call, added] : additions_) {
      Change& change = rewrites_->at(rank_, call);
      change.early = std::move(added.early);
      if (!added.wait.completions.empty()) change.late.push_back(std::move(added.wait));
      for (Made& made : added.late) change.late.push_back(std::move(made));
    }
  }

 private:
  void wait_for(const trace::Completion& request, std::uint32_t call, const Operation& of) {
    Made& wait = additions_[call].wait;
    wait.completions.push_back(request);
    if (wait.completions.size() > 1) {
      wait.operation.name = names_.waitall;
      return;
    }
    wait.operation = Operation();
    wait.operation.kind = EventKind::complete;
    wait.operation.name = names_.wait;
    wait.operation.site = of.site;
  }

  WorldRank rank_;
  Poster* poster_;
  Names names_;
  Rewrites* rewrites_;
  std::uint64_t next_request_ = kFirstRequest;
  std::map<std::uint32_t, Additions> additions_;
};

Seen step_of(const Operation& operation, bool chosen) {
  Seen step;
  step.bound = bounds(operation);
  step.send = sends(operation);
  step.receive = receives(operation);
  step.comm = operation.comm;
  step.place = {operation.name, operation.site, 0};
  step.to = operation.send;
  step.from = operation.recv;
  const bool blocking = operation.kind != EventKind::isend && operation.kind != EventKind::irecv;
  step.chosen_send = chosen && blocking && step.send;
  step.chosen_receive = chosen && blocking && step.receive && operation.taken == 0;
  return step;
}

}  // namespace

Rewrites with_posted_messages(LoadedRun& run, const Open& open, const PlaceSet& places) {
  const Names names{run.add_name("MPI_Isend"), run.add_name("MPI_Irecv"), run.add_name("MPI_Wait"),
                    run.add_name("MPI_Waitall")};
  const std::unique_ptr<sim::Source> steps_from = open();
  const std::unique_ptr<sim::Source> source = open();
  Chooser chooser(*steps_from, [&](const Place& place) {
    // One buffer for both ways.
    return places(place) && !place.function.starts_with("MPI_Sendrecv_replace");
  });
  Rewrites rewrites(source->ranks());
  for (int r = 0; r < source->ranks(); ++r) {
    const WorldRank rank(r);
    chooser.begin_rank();
    std::vector<Seen> steps;
    Operation operation;
    while (steps_from->next(rank, operation))
      steps.push_back(step_of(operation, chooser.chooses(operation)));
    Poster poster(std::move(steps));
    Maker maker(rank, poster, names, rewrites);
    for (std::uint32_t call = 0; source->next(rank, operation); ++call)
      maker.replace(call, operation);
    maker.finish();
  }
  return rewrites;
}

}  // namespace foretrace::explain
