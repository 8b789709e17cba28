// Queues against the theory of queues: means within the simulation's own 99 % interval, Little's
// law exactly.
#include <gmock/gmock.h>

#include <cmath>

#include "architecture/entity_run.hpp"

namespace foretrace::architecture {
namespace {

using entity::Ps;

std::string network(const std::string& queues, const std::string& links, int seed) {
  return "[architecture]\nname = \"q\"\n[composite.machine]\n"
         "[[composite.machine.part]]\nname = \"from\"\nkind = \"source\"\n"
         "parameters = { interval = \"10us\", seed = " +
         std::to_string(seed) + " }\n" + queues +
         "[[composite.machine.part]]\nname = \"to\"\nkind = \"sink\"\n" + links;
}

std::string queue(const std::string& name, const std::string& parameters) {
  return "[[composite.machine.part]]\nname = \"" + name + "\"\nkind = \"queue\"\nparameters = { " +
         parameters + " }\n";
}

std::string link(const std::string& from, const std::string& to) {
  return "[[composite.machine.link]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n";
}

struct Interval {
  double mean = 0;
  double half = 0;
};

// Of ten runs with different seeds; Student's t for 9 degrees of freedom, 99 %.
template <class Text>
Interval mean_stay(Text text) {
  std::vector<double> means;
  for (int seed = 1; seed <= 10; ++seed) {
    const Description description = parse_description(text(seed), "q.arch.toml", "");
    const FlatArchitecture flat = elaborate(description);
    std::vector<SinkTimes> sinks;
    const EntityRunResult result = run_entities(flat, Ps{300'000'000'000}, &sinks);
    EXPECT_EQ(result.failure, "");
    for (const EntityReport& one : result.entities)
      EXPECT_TRUE(one.packet_time == one.stay_time) << one.path << ": Little's law";
    // The first tenth is not steady yet.
    const auto& times = sinks.at(0).times;
    double sum = 0;
    for (std::size_t i = times.size() / 10; i < times.size(); ++i)
      sum += static_cast<double>(times[i]);
    means.push_back(sum / static_cast<double>(times.size() - times.size() / 10) * 1e-12);
  }
  Interval all;
  for (const double mean : means) all.mean += mean / 10;
  double spread = 0;
  for (const double mean : means) spread += (mean - all.mean) * (mean - all.mean);
  all.half = 3.25 * std::sqrt(spread / 9 / 10);
  return all;
}

void expect_within(const Interval& found, double expected) {
  EXPECT_LE(std::abs(found.mean - expected), found.half)
      << found.mean << " +- " << found.half << ", expected " << expected;
  // An interval that holds everything would show nothing.
  EXPECT_LT(found.half, 0.05 * expected);
}

std::string number(const char* name, int seed) {
  return std::string(name) + " = " + std::to_string(seed);
}

// M/M/1, rate 0.7: T = s / (1 - rho) = 7 us / 0.3.
TEST(Queueing, OneServerWithExponentialTimes) {
  expect_within(mean_stay([](int seed) {
                  return network(queue("q", "service = \"7us\", " + number("seed", seed + 100)),
                                 link("from.out", "q.in") + link("q.out", "to.in"), seed);
                }),
                7e-6 / 0.3);
}

// M/D/1: T = s + rho s / (2 (1 - rho)) (Pollaczek and Khinchine).
TEST(Queueing, OneServerWithConstantTimes) {
  expect_within(mean_stay([](int seed) {
                  return network(queue("q", "service = \"7us\", distribution = \"constant\""),
                                 link("from.out", "q.in") + link("q.out", "to.in"), seed);
                }),
                7e-6 + 0.7 * 7e-6 / (2 * 0.3));
}

// M/M/1 - M/M/1: the output of the first is Poisson (Burke): the sum of both.
TEST(Queueing, TwoServersInARow) {
  expect_within(mean_stay([](int seed) {
                  return network(
                      queue("a", "service = \"7us\", " + number("seed", seed + 100)) +
                          queue("b", "service = \"5us\", " + number("seed", seed + 200)),
                      link("from.out", "a.in") + link("a.out", "b.in") + link("b.out", "to.in"),
                      seed);
                }),
                7e-6 / 0.3 + 5e-6 / 0.5);
}

// M/G/1 processor sharing: T = s / (1 - rho) whatever the distribution; here constant.
TEST(Queueing, ASharedServerDoesNotCareForTheDistribution) {
  for (const char* distribution : {"constant", "exponential"})
    expect_within(
        mean_stay([&](int seed) {
          return network(
              queue("q",
                    std::string("service = \"7us\", discipline = \"sharing\", distribution = \"") +
                        distribution + "\", " + number("seed", seed + 100)),
              link("from.out", "q.in") + link("q.out", "to.in"), seed);
        }),
        7e-6 / 0.3);
}

// M/M/1 with the same seed for both, as where none is given: services do not follow intervals.
TEST(Queueing, EntitiesOfOneSeedAreIndependent) {
  expect_within(mean_stay([](int seed) {
                  return network(queue("server", "service = \"7us\", " + number("seed", seed)),
                                 link("from.out", "server.in") + link("server.out", "to.in"), seed);
                }),
                7e-6 / 0.3);
}

TEST(Queueing, TheSameInputGivesTheSameTimes) {
  const std::string text = network(queue("q", "service = \"7us\""),
                                   link("from.out", "q.in") + link("q.out", "to.in"), 3);
  const Description description = parse_description(text, "q.arch.toml", "");
  const FlatArchitecture flat = elaborate(description);
  std::vector<SinkTimes> a, b;
  run_entities(flat, Ps{10'000'000'000}, &a);
  run_entities(flat, Ps{10'000'000'000}, &b);
  EXPECT_EQ(a.at(0).times, b.at(0).times);
}

TEST(Queueing, ADiskSeeksAndTransfers) {
  // 4 ms and 1 MB at 100 MB/s: 14 ms each; the second waits for the first.
  const std::string text =
      "[architecture]\nname = \"d\"\n[composite.machine]\n"
      "[[composite.machine.part]]\nname = \"from\"\nkind = \"source\"\nparameters = { interval = "
      "\"1ms\", distribution = \"constant\", bytes = \"1MB\", packets = 2 }\n"
      "[[composite.machine.part]]\nname = \"d\"\nkind = \"disk\"\nparameters = { seek = \"4ms\", "
      "distribution = \"constant\", bandwidth = \"100MB/s\" }\n"
      "[[composite.machine.part]]\nname = \"to\"\nkind = \"sink\"\n" +
      link("from.out", "d.in") + link("d.out", "to.in");
  const Description description = parse_description(text, "d.arch.toml", "");
  std::vector<SinkTimes> sinks;
  run_entities(elaborate(description), Ps{1'000'000'000'000}, &sinks);
  EXPECT_THAT(sinks.at(0).times, testing::ElementsAre(14'000'000'000, 27'000'000'000));
}

}  // namespace
}  // namespace foretrace::architecture
