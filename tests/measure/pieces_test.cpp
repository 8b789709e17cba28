// [pieces] of the model, from samples.
#include "measure/fit/pieces.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "measure/campaign/precision.hpp"
#include "measure/fit/fit.hpp"

namespace foretrace::measure {
namespace {

Sample of_pieces(const std::string& name, std::uint64_t bytes, int launch, double microseconds,
                 bool kept = true) {
  return {"pieces:" + name, 2, bytes, launch, microseconds * 1e-6, kept};
}

TEST(Pieces, AreDifferencesInTheMiddleOfTheLaunches) {
  SampleSet set;
  const double base[] = {1, 2, 4};
  for (const int launch : {1, 2, 3}) {
    const double together = base[launch - 1];
    for (const std::uint64_t bytes : {8, 64, 1024, 8192})
      set.samples.push_back({"send", 2, bytes, launch, 1e-6, true});
    set.samples.push_back(of_pieces("together", 1024, launch, together));
    set.samples.push_back(of_pieces("together", 64, launch, together));
    set.samples.push_back(of_pieces("send/8", 1024, launch, together + 0.5));
    set.samples.push_back(of_pieces("send/8", 1024, launch, 900, false));
    set.samples.push_back(of_pieces("both/8", 1024, launch, together + 0.75));
    set.samples.push_back(of_pieces("send/64", 64, launch, together - 0.5));
    set.samples.push_back(of_pieces("both/64", 4096, launch, 7));
    set.samples.push_back({"node/" + std::string("pieces:together"), 2, 64, launch, 1e-6, true});
    set.samples.push_back({"node/" + std::string("pieces:send/8"), 2, 64, launch, 3e-6, true});
    set.samples.push_back({"node/send", 2, 8192, launch, 1e-6, true});
  }
  const machine::MachineModel model = fit_model(set).model;
  EXPECT_EQ(model.functions.size(), 1U) << "they are no functions";
  ASSERT_EQ(model.pieces.send.size(), 2U);
  EXPECT_EQ(model.pieces.send.at(Bytes(8))[0].bytes, Bytes(1024));
  EXPECT_EQ(model.pieces.send.at(Bytes(8))[0].time, Time::ns(500));
  EXPECT_EQ(model.pieces.send.at(Bytes(64))[0].time, Time()) << "less than nothing is nothing";
  ASSERT_EQ(model.pieces.recv.size(), 1U) << "4,096 bytes were sent in one way alone";
  EXPECT_EQ(model.pieces.recv.at(Bytes(8))[0].time, Time::ns(250));
  EXPECT_EQ(model.paths.at(machine::Path::node).pieces.send.at(Bytes(8))[0].time, Time::ns(2000));
  EXPECT_EQ(precision_of(set).half_width, 0) << "of what is the same each time";
}

TEST(Pieces, OfNoLengthAreRefused) {
  SampleSet set;
  for (const std::uint64_t bytes : {8, 64, 1024, 8192})
    set.samples.push_back({"send", 2, bytes, 1, 1e-6, true});
  set.samples.push_back(of_pieces("together", 64, 1, 1));
  set.samples.push_back(of_pieces("send/eight", 64, 1, 1));
  EXPECT_THROW(fit_model(set), Error);
}

}  // namespace
}  // namespace foretrace::measure
