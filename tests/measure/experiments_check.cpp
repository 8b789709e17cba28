// Runs every experiment on the ranks it is started with, a few times each, and
// looks at what came of it: the right data in the right places, spans on the
// ranks that measure and on no others, every function of functions.hpp met.
// Usage: mpirun -n P experiments_check FOLDER; status 1 and a line for each fault.
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>

#include "measure/core/functions.hpp"
#include "measure/core/patterns.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/families.hpp"
#include "measure/experiments/places.hpp"
#include "measure/experiments/scratch_file.hpp"

namespace foretrace::measure {
namespace {

int faults = 0;
std::set<std::string> met;

// What the rank `rank` sends in place `i`; exact in sums.
double value(int rank, std::uint64_t i) {
  return (rank + 1) * 1000.0 + static_cast<double>(i % 97);
}

void fill(char* data, std::uint64_t doubles, const std::function<double(std::uint64_t)>& of) {
  for (std::uint64_t i = 0; i < doubles; ++i) {
    const double v = of(i);
    std::memcpy(data + i * sizeof v, &v, sizeof v);
  }
}

double at(const char* data, std::uint64_t i) {
  double v = 0;
  std::memcpy(&v, data + i * sizeof v, sizeof v);
  return v;
}

// Of one experiment on one rank.
struct Case {
  std::string name;  // its first function
  Group group;
  std::uint64_t n;  // doubles in a message
  const char* received;

  void fail(const std::string& what) const {
    ++faults;
    std::cerr << name << " of " << 8 * n << " bytes, rank " << group.rank << " of " << group.size
              << ": " << what << '\n';
  }
  // `count` doubles from place `from` on are as `of` says.
  void expect(std::uint64_t from, std::uint64_t count,
              const std::function<double(std::uint64_t)>& of) const {
    for (std::uint64_t i = 0; i < count; ++i)
      if (at(received, from + i) != of(i))
        return fail("place " + std::to_string(from + i) + ": expected " + std::to_string(of(i)) +
                    ", found " + std::to_string(at(received, from + i)));
  }
};

// Which ranks of its group measure a function.
bool measures(const std::string& function, const Group& group) {
  const auto starts = [&](std::string_view with) { return function.starts_with(with); };
  if (function == "allsend") return group.rank < group.size / 2;
  if (starts(kRewritePrefix))
    return group.rank == (function.ends_with("gather") && !function.ends_with("allgather") ? 1 : 0);
  if (function.ends_with("_root")) return group.rank == 0;
  if (function == "sendrecv" || function == "gap") return true;
  if (starts("recv") || starts("irecv")) return group.rank == 1;
  const FunctionFacts* facts = facts_of(function);
  const std::string_view kind = facts ? facts->function_class : "";
  if (kind == "point-to-point" || kind == "one-sided" || kind == "local") return group.rank == 0;
  return true;
}

// The sum over `ranks` of what they send in place i.
double sum(const std::vector<int>& ranks, std::uint64_t i) {
  double total = 0;
  for (const int rank : ranks) total += value(rank, i);
  return total;
}

std::vector<int> ranks_below(int end) {
  std::vector<int> ranks;
  for (int i = 0; i < end; ++i) ranks.push_back(i);
  return ranks;
}

void check_pair(const Case& c) {
  const auto from = [](int rank) { return [rank](std::uint64_t i) { return value(rank, i); }; };
  if (c.name == "sendrecv") {
    c.expect(0, c.n, from(1 - c.group.rank));
  } else if (c.name == "get") {
    c.expect(0, c.n, from(1));
  } else if (c.name == "accumulate") {
    if (c.group.rank == 1) c.expect(0, c.n, [](std::uint64_t i) { return sum({0, 1}, i); });
  } else if (c.group.rank == 1 || c.name == "pingpong") {
    c.expect(0, c.n, from(0));
  }
}

// "together", "send/8", "both/8", as far as the sender's buffer was filled.
void check_pieces(const Case& c) {
  const std::string name = c.name.substr(kPiecesPrefix.size());
  const auto from = [&](std::uint64_t i) { return value(1 - c.group.rank, i); };
  if (name == "together") return c.expect(0, c.n, from);
  const std::uint64_t length = std::stoull(name.substr(name.find('/') + 1)) / 8;
  const std::uint64_t stride = std::max<std::uint64_t>(2 * length, 8);
  for (std::uint64_t i = 0; i < c.n; ++i) {
    const std::uint64_t place = i / length * stride + i % length;
    if (place >= 4 * c.n) break;
    c.expect(name.starts_with("both") ? place : i, 1, [&](std::uint64_t) { return from(place); });
  }
}

// `parts`: of which members the group consists, as ranks of those who sent.
void check_collective(const Case& c, const std::string& call, const std::vector<int>& members,
                      int me) {
  const std::uint64_t n = c.n;
  const bool root = me == 0;
  const auto size = static_cast<std::uint64_t>(members.size());
  const auto own = static_cast<std::uint64_t>(me);
  const auto from = [&](std::uint64_t member, std::uint64_t first) {
    const int rank = members[member];
    return [rank, first](std::uint64_t i) { return value(rank, first + i); };
  };
  const auto before = [&](int end) {
    return std::vector<int>(members.begin(), members.begin() + end);
  };
  const auto total = [](const std::vector<int>& ranks, std::uint64_t first) {
    return [=](std::uint64_t i) { return sum(ranks, first + i); };
  };
  if (call == "bcast") {
    if (!root) c.expect(0, n, from(0, 0));
  } else if (call == "scatter" || call == "scatterv") {
    c.expect(0, n, from(0, own * n));
  } else if (call == "gather" || call == "gatherv" || call == "allgather" || call == "allgatherv") {
    if (root || call.starts_with("all"))
      for (std::uint64_t r = 0; r < size; ++r) c.expect(r * n, n, from(r, 0));
  } else if (call == "alltoall" || call == "alltoallv") {
    for (std::uint64_t r = 0; r < size; ++r) c.expect(r * n, n, from(r, own * n));
  } else if (call == "reduce" || call == "allreduce") {
    if (root || call == "allreduce") c.expect(0, n, total(members, 0));
  } else if (call == "scan") {
    c.expect(0, n, total(before(me + 1), 0));
  } else if (call == "exscan") {
    if (!root) c.expect(0, n, total(before(me), 0));
  } else if (call == "reduce_scatter") {
    const std::uint64_t first = own * (n / size) + std::min(own, n % size);
    c.expect(0, n / size + (own < n % size), total(members, first));
  } else if (call == "reduce_scatter_block") {
    c.expect(0, n / size, total(members, own * (n / size)));
  } else if (call != "barrier") {
    c.fail("nobody looks at its data");
  }
}

void check_exchange(const Case& c) {
  const auto neighbours = [&](int rank) {
    if (c.name == "exchange_ring") return ring_neighbours(rank, c.group.size);
    int sides[2] = {0, 0};
    MPI_Dims_create(c.group.size, 2, sides);
    return mesh_neighbours(rank, sides[0], sides[1]);
  };
  const std::vector<int> mine = neighbours(c.group.rank);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::vector<int> theirs = neighbours(mine[i]);
    // Two ranks are each other's neighbours twice; messages do not overtake.
    const auto place =
        theirs.size() == 2 && theirs[0] == theirs[1]
            ? i
            : static_cast<std::size_t>(std::ranges::find(theirs, c.group.rank) - theirs.begin());
    c.expect(i * c.n, c.n, [&](std::uint64_t k) { return value(mine[i], place * c.n + k); });
  }
}

// Every sender's message arrived at one receiver.
void check_allsend(const Case& c) {
  const int half = c.group.size / 2;
  const bool receiver = c.group.rank >= half && c.group.rank < 2 * half;
  const int sender = receiver ? static_cast<int>(at(c.received, 0) / 1000) - 1 : -1;
  if (receiver) c.expect(0, c.n, [&](std::uint64_t i) { return value(sender, i); });
  std::vector<int> senders(static_cast<std::size_t>(c.group.size));
  MPI_Allgather(&sender, 1, MPI_INT, senders.data(), 1, MPI_INT, c.group.comm);
  std::ranges::sort(senders);
  for (int i = 0; i < half; ++i)
    if (senders[senders.size() - static_cast<std::size_t>(half - i)] != i)
      return c.fail("the receivers did not get one message from each sender");
}

std::string without_form(const std::string& function) {
  std::string call = function;
  if (call.starts_with("i") && (call.ends_with("1") || call.ends_with("overlap"))) {
    call.erase(0, 1);
    call.erase(call.ends_with("1") ? call.size() - 1 : call.size() - 7);
  }
  return call;
}

void check_data(const Case& c) {
  // It times what lies after the call; and writes what was sent.
  if (c.name.starts_with(kRewritePrefix)) return;
  if (c.name.starts_with(kPiecesPrefix)) return check_pieces(c);
  const FunctionFacts* facts = facts_of(c.name);
  if (!facts) return c.fail("not in functions.hpp");
  const std::size_t halves = c.name.find("_halves_");
  if (c.name == "allsend") return check_allsend(c);
  if (c.name.starts_with("exchange_")) return check_exchange(c);
  if (c.name.starts_with("file_") || c.name.starts_with("comm_") || c.name == "win_fence" ||
      facts->function_class == "local")
    return;
  if (facts->function_class == "point-to-point" || facts->function_class == "one-sided")
    return check_pair(c);
  if (halves == std::string::npos)
    return check_collective(c, without_form(c.name), ranks_below(c.group.size), c.group.rank);
  std::mt19937_64 random(1);
  const std::vector<int> order = permutation(c.group.size, random);
  for (const Halving halving : {Halving::block, Halving::alternate, Halving::random}) {
    if (!c.name.ends_with(name_of(halving))) continue;
    std::vector<int> members;
    for (int r = 0; r < c.group.size; ++r)
      if (half_of(halving, r, c.group.size, order) ==
          half_of(halving, c.group.rank, c.group.size, order))
        members.push_back(r);
    const auto me = std::ranges::find(members, c.group.rank) - members.begin();
    check_collective(c, c.name.substr(0, halves), members, static_cast<int>(me));
  }
}

// One repetition. `late` (ns): rank 0 comes as late.
std::vector<Span> repeat(const Experiment& experiment, const Group& group, Buffers& buffers,
                         std::uint64_t doubles, std::int64_t delay, std::int64_t late) {
  experiment.prepare();
  const auto mine = [&](std::uint64_t i) { return value(group.rank, i); };
  const auto all = doubles * static_cast<std::uint64_t>(std::max(group.size, 4));
  fill(buffers.recv(), all, [](std::uint64_t) { return -1.0; });
  fill(buffers.send(), all, mine);
  // A window holds one message.
  if (experiment.received && group.rank == 1)
    fill(const_cast<char*>(experiment.received()), doubles, mine);
  MPI_Barrier(group.comm);
  std::vector<Span> spans(experiment.functions.size());
  if (group.rank == 0 && late > 0) spin_until(now_ns() + late, true);
  experiment.repeat(now_ns(), delay, spans.data());
  return spans;
}

void check(const Experiment& experiment, const Group& group, Buffers& buffers,
           std::uint64_t bytes) {
  for (int i = 0; i < 2; ++i) {
    const std::vector<Span> spans = repeat(experiment, group, buffers, bytes / 8, 100'000, 0);
    const Case c{experiment.functions[0], group, bytes / 8,
                 experiment.received ? experiment.received() : buffers.recv()};
    check_data(c);
    for (std::size_t f = 0; f < spans.size(); ++f) {
      const std::string& function = experiment.functions[f];
      met.insert(function);
      if (spans[f].measured() != measures(function, group))
        c.fail(function + (spans[f].measured() ? " is measured here" : " is not measured here"));
      if (spans[f].measured() && spans[f].end < spans[f].begin)
        c.fail(function + " ends before it begins");
    }
    MPI_Barrier(group.comm);
  }
}

// A message from a late sender is waited for; one that is there is not.
void check_lateness(const Group& pair, Buffers& buffers) {
  constexpr std::int64_t kLate = 20'000'000;
  const std::vector<Experiment> all = point_to_point_experiments(pair, 64, buffers);
  std::int64_t waiting = 0;
  std::int64_t least = INT64_MAX;
  for (const Experiment& experiment : all)
    for (int i = 0; i < 5; ++i) {
      if (experiment.functions.back() == "recv") {
        const Span span = repeat(experiment, pair, buffers, 8, 0, kLate)[1];
        if (pair.rank == 1) waiting = std::max(waiting, span.end - span.begin);
      } else if (experiment.functions[0] == "recvmin") {
        const Span span = repeat(experiment, pair, buffers, 8, 4 * kLate, kLate)[0];
        if (pair.rank == 1) least = std::min(least, span.end - span.begin);
      }
    }
  if (pair.rank == 1 && (least >= waiting || waiting < kLate / 2)) {
    ++faults;
    std::cerr << "recvmin takes " << least << " ns, recv from a late sender " << waiting << '\n';
  }
}

// What the file holds is what was written, and what is read is what it holds.
void check_files(const Group& group, Buffers& buffers, const std::string& path) {
  constexpr std::uint64_t kDoubles = 32;
  for (const Experiment& experiment : file_experiments(group, 8 * kDoubles, buffers, path)) {
    const bool writes = experiment.functions[0].starts_with("file_write");
    const auto shift = [&](int rank) {
      return [rank, writes](std::uint64_t i) { return value(rank + (writes ? 0 : 50), i); };
    };
    if (group.rank == 0) {
      std::vector<char> all(8 * kDoubles * static_cast<std::uint64_t>(group.size));
      for (int r = 0; r < group.size; ++r)
        fill(all.data() + 8 * kDoubles * static_cast<std::uint64_t>(r), kDoubles,
             [&](std::uint64_t i) { return value(r + 50, i); });
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
          .write(all.data(), static_cast<std::streamsize>(all.size()));
    }
    MPI_Barrier(group.comm);
    repeat(experiment, group, buffers, kDoubles, 0, 0);
    MPI_Barrier(group.comm);
    std::vector<char> mine(8 * kDoubles);
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(8 * kDoubles) * group.rank);
    file.read(mine.data(), static_cast<std::streamsize>(mine.size()));
    const Case c{experiment.functions[0], group, kDoubles, writes ? mine.data() : buffers.recv()};
    c.expect(0, kDoubles, shift(group.rank));
    MPI_Barrier(group.comm);
  }
}

// No folder, no file: a reason, and nothing else goes wrong.
void check_no_scratch(const Group& world, const std::string& folder) {
  const ScratchFile none = make_scratch_file(world, {folder + "/not/there"}, 64);
  if (!none.path.empty() || none.reason.find("No such file") == std::string::npos) {
    ++faults;
    std::cerr << "a scratch file in a folder that is not there: '" << none.path << "', '"
              << none.reason << "'\n";
  }
  const ScratchFile second = make_scratch_file(world, {folder + "/not/there", folder}, 64);
  if (second.path.empty()) ++faults;
  remove_scratch_file(world, second);
  MPI_Barrier(world.comm);
  if (::access(second.path.c_str(), F_OK) == 0) ++faults;
}

// Whatever was freed before: a block beyond the size is a mapping of its own, and the heap's end is
// given back when three of that size are free.
void check_heap() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr std::size_t kMiB = 1024 * 1024;
  // Volatile, so that compilers do not leave out what nobody uses.
  void* volatile longer = std::malloc(16 * kMiB);
  std::free(longer);
  begin_heap_anew(kMiB);
  const std::size_t mapped = mallinfo2().hblks;
  longer = std::malloc(2 * kMiB);
  const bool is_mapped = mallinfo2().hblks == mapped + 1;
  std::free(longer);
  void* volatile blocks[3];
  for (void* volatile& block : blocks) block = std::malloc(kMiB);
  const bool is_heap = mallinfo2().hblks == mapped;
  for (void* volatile& block : blocks) std::free(block);
  if (is_mapped && is_heap && mallinfo2().keepcost < 3 * kMiB) return;
  ++faults;
  std::cerr << "the heap does not begin anew: " << is_mapped << is_heap << ", "
            << mallinfo2().keepcost << " bytes kept\n";
#endif
}

int run(const std::string& folder) {
  const Group world = group_of(MPI_COMM_WORLD);
  check_heap();
  check_no_scratch(world, folder);
  MPI_Comm pair_comm;
  const bool outer = world.rank == 0 || world.rank == world.size - 1;
  MPI_Comm_split(MPI_COMM_WORLD, outer ? 0 : MPI_UNDEFINED, world.rank, &pair_comm);
  constexpr std::uint64_t kLargest = 196608;
  Buffers buffers(BufferChoice::warm, 4 * kLargest * static_cast<std::uint64_t>(world.size), 0);
  const ScratchFile scratch = make_scratch_file(world, {folder}, kLargest);
  for (const Family& family : families({scratch.path})) {
    const bool pair = family.scope == Scope::pair;
    if (pair && !outer) continue;
    const Group group = pair ? group_of(pair_comm) : world;
    // Whole doubles for each of 2, 3 or 4; eager and rendezvous.
    for (const std::uint64_t bytes : {std::uint64_t{96}, kLargest}) {
      if (family.sizes == Sizes::none && bytes != 96) continue;
      for (const Experiment& experiment : family.experiments(group, bytes, buffers))
        check(experiment, group, buffers, bytes);
    }
  }
  if (outer) check_lateness(group_of(pair_comm), buffers);
  check_files(world, buffers, scratch.path);
  remove_scratch_file(world, scratch);
  if (pair_comm != MPI_COMM_NULL) MPI_Comm_free(&pair_comm);
  if (world.rank == 0)
    for (const FunctionFacts& facts : measured_functions())
      if (!met.contains(facts.name) &&
          (world.size >= 4 || facts.name.find("_halves_") == std::string::npos)) {
        ++faults;
        std::cerr << facts.name << " was not measured\n";
      }
  int all = 0;
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all == 0 ? 0 : 1;
}

}  // namespace
}  // namespace foretrace::measure

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = foretrace::measure::run(argc > 1 ? argv[1] : ".");
  MPI_Finalize();
  return status;
}
