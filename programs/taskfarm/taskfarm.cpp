// taskfarm - dynamic load balancing with a farmer, workers and a sink.
//
// The farmer (rank 0) hands packets of tasks to whichever worker asks next
// (MPI_ANY_SOURCE); a worker asks, works, sends the results to the sink (also
// MPI_ANY_SOURCE) and asks again, until the farmer has nothing left. Tasks take
// random lengths, which depend on the seed and the task alone. Who does what is
// a race, so a prediction has to order the messages in virtual time; the
// results do not depend on it. The sink is the last rank, or the farmer
// (--sink farmer, and always with two ranks); one rank does all by itself.
// Thesis: section 6.5.2.
#include "common/mpi.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/random.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

enum Sink { kSinkIsLast, kSinkIsFarmer };

struct Arguments {
  int tasks = 100;
  int mean_steps = 2000;
  int packet = 1;
  int sink = kSinkIsLast;
  std::int64_t seed = 1;
};

constexpr int kFarmer = 0;
constexpr int kRequestTag = 1;  // worker to farmer, empty
constexpr int kPacketTag = 2;   // farmer to worker: a Packet; no tasks means stop
constexpr int kResultTag = 3;   // worker to sink: the first task, then the results
constexpr int kSinkTag = 4;     // sink to farmer: all results

struct Packet {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

// Hands out the tasks in order.
class Supply {
 public:
  explicit Supply(const Arguments& arguments) : arguments_(arguments) {}

  Packet take() {
    const Packet packet{next_, std::min(arguments_.packet, arguments_.tasks - next_)};
    next_ += packet.count;
    return packet;
  }

 private:
  const Arguments& arguments_;
  int next_ = 0;
};

int find_sink(const Arguments& arguments) {
  const int size = world_size();
  return arguments.sink == kSinkIsLast && size > 2 ? size - 1 : kFarmer;
}

// Steps of a task: 1 .. 2*mean-1, all equally likely.
std::int32_t task_steps(const Arguments& arguments, int task) {
  Random random(arguments.seed);
  random.skip(task);
  return 1 + random.next_below(2 * arguments.mean_steps - 1);
}

// The work: as many steps of another random sequence. Its end is the result.
std::uint64_t do_task(const Arguments& arguments, int task) {
  const std::int32_t steps = task_steps(arguments, task);
  Random random(static_cast<std::uint64_t>(task));
  std::uint64_t result = 0;
  for (std::int32_t step = 0; step < steps; ++step) result += random.next();
  return result;
}

std::vector<std::uint64_t> do_packet(const Arguments& arguments, Packet packet) {
  const Phase phase("compute");
  std::vector<std::uint64_t> message = {static_cast<std::uint64_t>(packet.first)};
  double steps = 0;
  for (int task = packet.first; task < packet.first + packet.count; ++task) {
    message.push_back(do_task(arguments, task));
    steps += task_steps(arguments, task);
  }
  FORETRACE_COMPUTE(steps);
  return message;
}

void send_packet(Packet packet, int worker) {
  MPI_Send(&packet, 2, MPI_INT, worker, kPacketTag, MPI_COMM_WORLD);
}

// Stores a result message: `words` words, the first task and its results onwards.
int store(const std::vector<std::uint64_t>& message, int words,
          std::vector<std::uint64_t>* results) {
  const auto first = static_cast<std::ptrdiff_t>(message[0]);
  std::copy(message.begin() + 1, message.begin() + words, results->begin() + first);
  return words - 1;
}

// The farmer hands out packets; as the sink, it also collects the results.
std::vector<std::uint64_t> run_farmer(const Arguments& arguments, int workers, bool collects) {
  const Phase phase("farm");
  Supply supply(arguments);
  std::vector<std::uint64_t> results(arguments.tasks);
  std::vector<std::uint64_t> message(arguments.packet + 1);
  int busy = workers;
  int missing = collects ? arguments.tasks : 0;
  while (busy > 0 || missing > 0) {
    MPI_Status status;
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, MPI_ANY_SOURCE,
             collects ? MPI_ANY_TAG : kRequestTag, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kRequestTag) {
      const Packet packet = supply.take();
      send_packet(packet, status.MPI_SOURCE);
      if (packet.count == 0) --busy;
    } else {
      int words = 0;
      MPI_Get_count(&status, MPI_UINT64_T, &words);
      missing -= store(message, words, &results);
    }
  }
  return results;
}

void run_worker(const Arguments& arguments, int sink) {
  const Phase phase("work");
  while (true) {
    MPI_Send(nullptr, 0, MPI_UINT64_T, kFarmer, kRequestTag, MPI_COMM_WORLD);
    Packet packet;
    MPI_Recv(&packet, 2, MPI_INT, kFarmer, kPacketTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (packet.count == 0) return;
    const std::vector<std::uint64_t> message = do_packet(arguments, packet);
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, sink, kResultTag,
             MPI_COMM_WORLD);
  }
}

std::vector<std::uint64_t> run_sink(const Arguments& arguments) {
  const Phase phase("sink");
  std::vector<std::uint64_t> results(arguments.tasks);
  std::vector<std::uint64_t> message(arguments.packet + 1);
  for (int missing = arguments.tasks; missing > 0;) {
    MPI_Status status;
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, MPI_ANY_SOURCE,
             kResultTag, MPI_COMM_WORLD, &status);
    int words = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &words);
    missing -= store(message, words, &results);
  }
  return results;
}

// All by itself, as the only rank or for comparison.
std::vector<std::uint64_t> run_alone(const Arguments& arguments) {
  Supply supply(arguments);
  std::vector<std::uint64_t> results(arguments.tasks);
  for (Packet packet = supply.take(); packet.count > 0; packet = supply.take()) {
    const auto message = do_packet(arguments, packet);
    store(message, static_cast<int>(message.size()), &results);
  }
  return results;
}

// Returns all results on the farmer.
std::vector<std::uint64_t> farm(const Arguments& arguments) {
  const int rank = world_rank();
  const int size = world_size();
  if (size == 1) return run_alone(arguments);
  const int sink = find_sink(arguments);
  std::vector<std::uint64_t> results;
  if (rank == kFarmer) {
    results = run_farmer(arguments, sink == kFarmer ? size - 1 : size - 2, sink == kFarmer);
  } else if (rank == sink) {
    results = run_sink(arguments);
  } else {
    run_worker(arguments, sink);
  }
  if (sink == kFarmer) return results;

  const Phase phase("collect");
  if (rank == sink) {
    MPI_Send(results.data(), arguments.tasks, MPI_UINT64_T, kFarmer, kSinkTag, MPI_COMM_WORLD);
  } else if (rank == kFarmer) {
    MPI_Recv(results.data(), arguments.tasks, MPI_UINT64_T, sink, kSinkTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  return results;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("taskfarm", "tasks of random lengths handed out on demand");
  options.add_integer("tasks", &arguments.tasks, 1, 10000000, "number of tasks");
  options.add_integer("mean-steps", &arguments.mean_steps, 1, 1000000000,
                      "mean compute steps of a task");
  options.add_integer("packet", &arguments.packet, 1, 1000000, "tasks handed out at a time");
  options.add_choice("sink", &arguments.sink, {"last", "farmer"}, "who collects the results");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const std::vector<std::uint64_t> results = farm(arguments);
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  double steps = 0;
  for (int task = 0; task < arguments.tasks; ++task) steps += task_steps(arguments, task);
  print_result("taskfarm", Digest().add_all(results),
               fact("tasks", arguments.tasks) + " " + fact("steps", steps));
  if (options.check()) {
    std::vector<std::uint64_t> expected(arguments.tasks);
    for (int task = 0; task < arguments.tasks; ++task) expected[task] = do_task(arguments, task);
    return check_equal("taskfarm", "results", expected, results);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
