#include "study/figures.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using study::figures_of_json;
using study::figures_of_patterns;
using testing::ElementsAre;
using testing::Pair;

TEST(Figures, ComeFromReportsAndModels) {
  EXPECT_THAT(figures_of_json(R"({"time": 2, "speedup": null, "wait": 0.5,
      "phases": [{"name": "halo swap", "time": 1}], "states": {"MPI_Send": 0.25}})"),
              ElementsAre(Pair("time", 2), Pair("wait", 0.5), Pair("phase_halo_swap", 1),
                          Pair("state_MPI_Send", 0.25)));
  EXPECT_THAT(
      figures_of_json(R"({"total": {"min": 1, "avg": 2, "max": 3},
      "phases": {"a": {"min": 1, "avg": 2, "max": 3}}})"),
      ElementsAre(Pair("time", 2), Pair("time_min", 1), Pair("time_max", 3), Pair("phase_a", 2)));
  EXPECT_THROW(figures_of_json("nonsense"), Error);
}

TEST(Figures, ComeFromWhatTheProgramPrints) {
  EXPECT_THAT(figures_of_patterns("n=1\nrate: 2.5e3 MB/s\nn=7\n" + std::string(100'000, 'x'),
                                  {{"n", "n=(\\d+)"}, {"rate", "rate: (\\S+)"}, {"none", "q=(.)"}}),
              ElementsAre(Pair("n", 7), Pair("rate", 2500)));
}

TEST(MedianInterval, IsThatOfTheBinomialDistribution) {
  EXPECT_TRUE(std::isinf(study::relative_half_width({1, 2, 3, 4, 5})));
  // n = 6: least and largest, with 1 - 2/64 = 96.9 %.
  EXPECT_DOUBLE_EQ(study::relative_half_width({1, 2, 3, 4, 5, 6}), 2.5 / 3.5);
  // n = 10: the second and the ninth, with 1 - 2 x 11/1024 = 97.9 %.
  EXPECT_DOUBLE_EQ(study::relative_half_width({10, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 3.5 / 5.5);
}

}  // namespace
