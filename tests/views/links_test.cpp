// How busy links were: computed by hand, and on paper.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/links.hpp"
#include "topology/builders.hpp"
#include "views/report/link_report.hpp"
#include "views/report/report.hpp"

namespace foretrace::views {
namespace {

using analysis::LinkUse;
using analysis::NetworkUse;
using machine::LinkId;
using machine::Topology;

std::vector<Time> us(const std::vector<int>& bins) {
  std::vector<Time> times;
  for (int bin : bins) times.push_back(Time::ns(1000 * bin));
  return times;
}

LinkUse use_of(int link, std::uint64_t messages, std::uint64_t bytes,
               const std::vector<int>& history) {
  LinkUse use{LinkId(link), messages, Bytes(bytes), Time(), us(history)};
  for (Time bin : use.history) use.busy += bin;
  return use;
}

// ring:3 has the links 0-1, 0-2, 1-0, 1-2, 2-0, 2-1 with the numbers 0 to 5. A
// run of 75 us in bins of 10 us:
//   link 3 (1 -> 2): 2 + 8 + 10 + 5 + 4 = 29 us, 29 / 75 = 38.7 %; the bins with
//     at least 5 us around the fullest are 1 to 3: 10 to 40 us, 23 / 30 = 76.7 %
//   link 0 (0 -> 1): the same 29 us, and so first; 9 + 9 + 5 at the end, bins 5 to
//     7, the last one half a bin: 50 to 75 us, 23 / 25 = 92 %
//   link 5 (2 -> 1): nothing known of when; 1 us, 1.3 %
NetworkUse ring_use() {
  return {Time::ns(75'000),
          Time::ns(10'000),
          {use_of(0, 3, 2048, {4, 0, 2, 0, 0, 9, 9, 5}), use_of(3, 70, 29 << 20, {2, 8, 10, 5, 4}),
           LinkUse{LinkId(5), 1, Bytes(0), Time::ns(1000), {}}}};
}

TEST(ProfileLinks, BusiestFirstWithItsStretch) {
  const Topology ring = machine::make_topology("ring:3");
  const analysis::LinksProfile profile = analysis::profile_links(ring_use(), &ring);
  EXPECT_EQ(profile.carriers, 6);
  ASSERT_EQ(profile.links.size(), 3u);
  EXPECT_EQ(profile.links[0].from, "0");
  EXPECT_EQ(profile.links[0].to, "1");
  EXPECT_EQ(profile.links[0].busy, Time::ns(29'000));
  EXPECT_DOUBLE_EQ(profile.links[0].share, 29.0 / 75);
  ASSERT_TRUE(profile.links[0].busiest);
  EXPECT_EQ(profile.links[0].busiest->from, Time::ns(50'000));
  EXPECT_EQ(profile.links[0].busiest->to, Time::ns(75'000));
  EXPECT_DOUBLE_EQ(profile.links[0].busiest->share, 23.0 / 25);
  EXPECT_EQ(profile.links[1].from, "1");
  EXPECT_EQ(profile.links[1].to, "2");
  ASSERT_TRUE(profile.links[1].busiest);
  EXPECT_EQ(profile.links[1].busiest->from, Time::ns(10'000));
  EXPECT_EQ(profile.links[1].busiest->to, Time::ns(40'000));
  EXPECT_DOUBLE_EQ(profile.links[1].busiest->share, 23.0 / 30);
  EXPECT_FALSE(profile.links[2].busiest);
}

// Of equal bins apart from each other the first one: 0 to 10 us, 6 / 10.
TEST(ProfileLinks, FirstOfEqualStretches) {
  const Topology ring = machine::make_topology("ring:3");
  const auto profile = analysis::profile_links(
      {Time::ns(40'000), Time::ns(10'000), {use_of(1, 1, 1, {6, 2, 6, 2})}}, &ring);
  EXPECT_EQ(profile.links[0].busiest->from, Time());
  EXPECT_EQ(profile.links[0].busiest->to, Time::ns(10'000));
  EXPECT_DOUBLE_EQ(profile.links[0].busiest->share, 0.6);
}

// A message that nobody waits for may be under way when the run ends.
TEST(ProfileLinks, StretchBeyondTheRun) {
  const Topology ring = machine::make_topology("ring:3");
  const auto profile = analysis::profile_links(
      {Time::ns(5'000), Time::ns(10'000), {use_of(1, 1, 1, {0, 6})}}, &ring);
  EXPECT_EQ(profile.links[0].busiest->from, Time::ns(10'000));
  EXPECT_EQ(profile.links[0].busiest->to, Time::ns(20'000));
  EXPECT_DOUBLE_EQ(profile.links[0].busiest->share, 0.6);
}

TEST(ProfileLinks, EmptyRunHasNoShares) {
  const Topology ring = machine::make_topology("ring:3");
  const auto profile = analysis::profile_links({Time(), Time::ns(1), {use_of(1, 1, 0, {})}}, &ring);
  EXPECT_EQ(profile.links[0].share, 0);
  EXPECT_FALSE(profile.links[0].busiest);
}

// The links into a bus are one carrier, those out of it none.
TEST(ProfileLinks, BusIsOneCarrier) {
  const Topology bus = machine::make_topology("bus:3");
  const NetworkUse use{Time::ns(10'000), Time::ns(10'000), {use_of(0, 2, 10, {5})}};
  for (const Topology* topology : {&bus, static_cast<const Topology*>(nullptr)}) {
    const auto profile = analysis::profile_links(use, topology);
    EXPECT_EQ(profile.carriers, 1);
    EXPECT_EQ(profile.links[0].from, "");
    EXPECT_EQ(profile.links[0].to, "bus");
  }
}

TEST(LinkReport, Text) {
  const Topology ring = machine::make_topology("ring:3");
  const auto profile = analysis::profile_links(ring_use(), &ring);
  EXPECT_EQ(render_text_links(profile),
            "\nLinks: 3 of 6 carried messages\n"
            "  link    messages   bytes   busy  of the run  busiest from     to  busy then\n"
            "  0 -> 1         3  2048 B  29 us      38.7 %         50 us  75 us     92.0 %\n"
            "  1 -> 2        70  29 MiB  29 us      38.7 %         10 us  40 us     76.7 %\n"
            "  2 -> 1         1     0 B   1 us       1.3 %\n");
  EXPECT_EQ(render_text_links(profile, 1),
            "\nLinks: 3 of 6 carried messages; the 1 busiest\n"
            "  link    messages   bytes   busy  of the run  busiest from     to  busy then\n"
            "  0 -> 1         3  2048 B  29 us      38.7 %         50 us  75 us     92.0 %\n");
}

TEST(LinkReport, TextWithoutHistoriesOrLinks) {
  const Topology bus = machine::make_topology("bus:3");
  NetworkUse use{Time::ns(10'000), Time(), {use_of(0, 2, 10, {5})}};
  use.links[0].history.clear();
  EXPECT_EQ(render_text_links(analysis::profile_links(use, &bus)),
            "\nLinks: 1 of 1 carried messages\n"
            "  link  messages  bytes  busy  of the run\n"
            "  bus          2   10 B  5 us      50.0 %\n");
  EXPECT_EQ(render_text_links(analysis::profile_links({}, &bus)),
            "\nLinks: 0 of 1 carried messages\n");
}

TEST(LinkReport, JsonAloneAndInTheReport) {
  const Topology ring = machine::make_topology("ring:3");
  const auto profile = analysis::profile_links(ring_use(), &ring);
  const auto list = nlohmann::json::parse(render_json_links(profile));
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], nlohmann::json::parse(R"({"from": "0", "to": "1", "messages": 3,
      "bytes": 2048, "busy": 2.9e-05, "share": 0.38666666666666666,
      "busiest": {"from": 5e-05, "to": 7.5e-05, "share": 0.92}})"));
  EXPECT_EQ(list[2]["busiest"], nullptr);
  const auto report =
      nlohmann::json::parse(render_json_report(analysis::Profile(), std::nullopt, &profile));
  EXPECT_EQ(report["links"], list);
  EXPECT_FALSE(nlohmann::json::parse(render_json_report(analysis::Profile())).contains("links"));

  const Topology bus = machine::make_topology("bus:3");
  const auto one = nlohmann::json::parse(
      render_json_links(analysis::profile_links({Time::ns(1), {}, {use_of(0, 1, 1, {})}}, &bus)));
  EXPECT_EQ(one[0]["from"], nullptr);
}

}  // namespace
}  // namespace foretrace::views
