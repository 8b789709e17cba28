// model_taskfarm - rank 0 gives tasks of different lengths to whichever worker
// is free first.
#include "model_main.hpp"

namespace {

using namespace foretrace;

constexpr int kAsk = 1;
constexpr int kTask = 2;
constexpr int kStop = 3;

sim::RankTask farmer(sim::ModelRank& rank, int tasks, Bytes task) {
  for (int working = rank.size() - 1; working > 0;) {
    const sim::Received ask = co_await rank.recv(sim::kAnySource, kAsk);
    if (tasks-- > 0) {
      co_await rank.send(ask.source, task, kTask);
    } else {
      co_await rank.send(ask.source, Bytes(0), kStop);
      --working;
    }
  }
}

sim::RankTask worker(sim::ModelRank& rank, int mean) {
  auto state = static_cast<std::uint32_t>(rank.rank());
  for (;;) {
    co_await rank.send(0, Bytes(8), kAsk);
    if ((co_await rank.recv(0, sim::kAnyTag)).tag == kStop) co_return;
    // Half to one and a half of the mean, from a small generator of its own.
    state = state * 1664525u + 1013904223u;
    rank.compute(Time::ns(mean / 2 + static_cast<std::int64_t>(state >> 8) % (mean + 1)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return models::run_main([&] {
    models::Options options("model_taskfarm: the first free worker gets the next task");
    int tasks = 100'000;
    int bytes = 1024;
    int mean = 1'000'000;
    options.add("tasks", &tasks, "tasks");
    options.add("bytes", &bytes, "bytes of a task");
    options.add("mean", &mean, "a task's computation on average, ns");
    if (!options.parse(argc, argv)) return;
    const Bytes task(static_cast<std::uint64_t>(bytes));
    sim::ModelProgram program(
        options.ranks,
        [&](sim::ModelRank& rank) {
          return rank.rank() == 0 ? farmer(rank, tasks, task) : worker(rank, mean);
        },
        sim::Racing::yes);
    models::simulate_and_print(program, options);
  });
}
