// trace_dump FILE                 prints what the library reads of a trace
// trace_dump --make CLOCK FILE    writes a trace with every kind of record
// trace_dump --seal FROM TO
//
// The form of the lines is shared with decode.py, and documented there.
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "samples.hpp"

using namespace foretrace;
using namespace foretrace::trace;

namespace {

void print_piece(const Endpoint& side) {
  if (side.piece != 0) std::printf(" piece=%u", side.piece);
}

void print_send(const Event& event) {
  std::printf(" send=%d,%d,%d,%" PRIu64, static_cast<int>(event.mode), event.send.peer.value,
              event.send.tag, event.send.bytes.count);
  if (event.send.untouched) std::printf(" untouched");
  print_piece(event.send);
}

void print_recv(const Event& event) {
  std::printf(" recv=%d,%d,%d,%" PRIu64, event.recv.any_source + 2 * event.recv.any_tag,
              event.recv.peer.value, event.recv.tag, event.recv.bytes.count);
  print_piece(event.recv);
  if (event.taken != 0) std::printf(" taken=%" PRIu64, event.taken);
}

void print_comm(const Communicator& comm) {
  std::printf(" comm=%" PRIu64 ":", comm.key);
  for (const WorldRank member : comm.members) std::printf("%d.", member.value);
}

void print_reduction(const Event& event) {
  if (event.reduction != machine::Reduction::none)
    std::printf(" reduction=%d", static_cast<int>(event.reduction));
}

void print_body(const Event& event) {
  switch (event.kind) {
    case EventKind::isend:
      std::printf(" request=%" PRIu64, event.request);
      [[fallthrough]];
    case EventKind::send:
      return print_send(event);
    case EventKind::irecv:
    case EventKind::probe:
      if (!leaves_message(event)) std::printf(" request=%" PRIu64, event.request);
      [[fallthrough]];
    case EventKind::recv:
      return print_recv(event);
    case EventKind::sendrecv:
      print_send(event);
      return print_recv(event);
    case EventKind::complete:
      for (const Completion& done : event.completions)
        std::printf(" done=%" PRIu64 ",%d,%d,%d,%" PRIu64, done.request, done.cancelled,
                    done.source.value, done.tag, done.bytes.count);
      return;
    case EventKind::icollective:
      std::printf(" request=%" PRIu64, event.request);
      [[fallthrough]];
    case EventKind::collective:
      std::printf(" collective=%d,%" PRIu64 ",%d", static_cast<int>(event.collective),
                  event.bytes.count, event.root.value);
      if (event.send.untouched) std::printf(" untouched");
      print_reduction(event);
      return;
    case EventKind::call:
      std::printf(" count=%u", event.count);
      if (event.request != 0) std::printf(" request=%" PRIu64, event.request);
      if (moves_data(event))
        std::printf(" moves=%d,%" PRIu64, event.send.peer.value, event.bytes.count);
      if (is_one_sided(event)) std::printf(" one_sided=%d", static_cast<int>(event.one_sided));
      if (combines(event)) {
        print_reduction(event);
        std::printf(",%" PRIu64, event.bytes.count);
      }
      return;
    case EventKind::mark:
      std::printf(" value=%016" PRIx64, std::bit_cast<std::uint64_t>(event.value));
      return;
    case EventKind::aborted:
      std::printf(" code=%d", event.code);
      return;
    default:
      return;
  }
}

void print_event(const TraceReader& reader, WorldRank rank, const Event& event) {
  std::uint64_t steps;
  std::memcpy(&steps, &event.steps, sizeof steps);
  std::printf("%d kind=%d name=%s compute=%" PRId64 " steps=%016" PRIx64 " enter=%" PRId64
              " leave=%" PRId64 " wait=%" PRId64,
              rank.value, static_cast<int>(event.kind) + (leaves_message(event) ? 1 : 0),
              reader.name(rank, event.name).c_str(), event.compute.count_ps(), steps,
              event.enter.count_ps(), event.leave.count_ps(), event.wait.count_ps());
  if (uses_comm(event)) print_comm(reader.comm(rank, event.comm));
  if (event.site != 0) {
    const Site& site = reader.site(rank, event.site);
    std::printf(" site=%s+%" PRIu64, site.object.c_str(), site.offset);
  }
  if (event.kind != EventKind::call && event.kind != EventKind::mark && event.count != 1)
    std::printf(" count=%u", event.count);
  print_body(event);
  if (const Counts* counts = reader.counts(rank, event))
    for (std::size_t i = 0; i < counts->size(); ++i)
      std::printf("%s%" PRIu64, i == 0 ? " counts=" : ".", (*counts)[i].count);
  for (const Join* join : {&event.join, &event.second}) {
    if (join->back == 0) continue;
    std::printf(" join=%" PRIu64 ",%d,%" PRId64 ",%" PRId64, join->back, join->entered,
                join->after.count_ps(), join->held.count_ps());
    if (join->knows_steps)
      std::printf(",%016" PRIx64 ",%016" PRIx64, std::bit_cast<std::uint64_t>(join->after_steps),
                  std::bit_cast<std::uint64_t>(join->held_steps));
  }
  std::printf("\n");
}

std::string text_of(const Site* site) {
  return site ? " site=" + site->object + "+" + std::to_string(site->offset) : std::string();
}

void dump(const char* path) {
  TraceReader reader(path);
  const TraceInfo& info = reader.info();
  const char* clock = info.clock == Clock::cpu    ? "cpu"
                      : info.clock == Clock::wall ? "wall"
                                                  : "virtual";
  std::printf("ranks=%d clock=%s sealed=%d program=%s origin=%s machine=%s options=%s mpi=%s\n",
              info.ranks, clock, reader.sealed(), info.program.c_str(), info.origin.c_str(),
              info.machine.c_str(), info.options.c_str(), info.mpi.c_str());
  Event event;
  for (int rank = 0; rank < info.ranks; ++rank)
    while (reader.next(WorldRank(rank), event)) print_event(reader, WorldRank(rank), event);
  for (int rank = 0; rank < info.ranks; ++rank)
    if (const std::string* name = reader.open_call(WorldRank(rank)))
      std::printf("open rank=%d %s%s\n", rank, name->c_str(),
                  text_of(reader.open_site(WorldRank(rank))).c_str());
  for (const Damage& damage : reader.damage())
    if (damage.rank.valid()) std::printf("damage rank=%d\n", damage.rank.value);
}

// More lists than a rank keeps, and some of them again.
void write_counts(TraceWriter& writer, Event event) {
  event.collective = machine::Cost::alltoallv;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Counts counts{Bytes(i % 90), Bytes(i % 90), Bytes(0), Bytes(7),
                        Bytes(1),      Bytes(1),      Bytes(1), Bytes(UINT64_MAX)};
    writer.write(event, &counts);
  }
}

// Rank 0 every kind, rank 1 several blocks, rank 2 nothing, rank 3 a
// communicator with runs in both directions, with clock wall also lists of counts.
void make(const char* path, Clock clock) {
  constexpr int kRanks = 4;
  create_trace_file(path, sample_info(kRanks, clock));
  TraceWriter kinds(path, WorldRank(0), clock);
  TraceWriter blocks(path, WorldRank(1), clock);
  TraceWriter comms(path, WorldRank(3), clock);
  define(blocks, kRanks);
  for (const Event& event : many_events(kRanks, 1, 3000, clock)) blocks.write(event);
  define(kinds, kRanks);
  for (const Event& event : sample_events(kRanks, clock)) kinds.write(event);
  define(comms, kRanks);
  const WorldRank members[] = {WorldRank(3), WorldRank(1), WorldRank(0), WorldRank(2)};
  Event event;
  event.kind = EventKind::collective;
  event.collective = machine::Cost::barrier;
  event.name = comms.define_name("MPI_Barrier");
  event.comm = comms.define_comm(0xfedcba9876543210, members);
  event.compute = event.enter = event.leave = Time::ns(700);
  if (clock == Clock::wall) write_counts(comms, event);
  comms.write(event);
  event.count = 0;
  comms.write(event);
  // Rank 1 is in a call that does not end.
  blocks.enter(0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "--make") == 0) {
      const Clock clock = std::strcmp(argv[2], "cpu") == 0    ? Clock::cpu
                          : std::strcmp(argv[2], "wall") == 0 ? Clock::wall
                                                              : Clock::virtual_;
      make(argv[3], clock);
    } else if (argc == 4 && std::strcmp(argv[1], "--seal") == 0) {
      seal_trace_file(argv[2], argv[3]);
    } else if (argc == 2) {
      dump(argv[1]);
    } else {
      std::fputs("usage: trace_dump FILE | --make CLOCK FILE | --seal FROM TO\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trace_dump: %s\n", error.what());
    return 1;
  }
  return 0;
}
