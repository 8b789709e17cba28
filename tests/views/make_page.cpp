// make_page mandel|halo|wide|two|network RANKS EVENTS OUT.html: writes the time line page of an
// example trace, or of two, of which the second has twice as many events, or the first a network;
// make_page profile RANKS 0 OUT.html: the page of a profile; make_page report|compare RANKS EVENTS
// OUT.html: that of a report, of a comparison; make_page trace RANKS EVENTS OUT.ftr: a trace. The
// tests in a browser start from such pages.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "analysis/compare_groups.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "example_traces.hpp"
#include "topology/builders.hpp"
#include "trace/trace.hpp"
#include "views/profile/call_profile.hpp"
#include "views/report/comparison.hpp"
#include "views/report/html_report.hpp"
#include "views/timeline/timeline.hpp"

namespace {

using namespace foretrace;

// Long names everywhere: they have to fit somehow.
analysis::CallProfile example_profile(int ranks) {
  analysis::CallProfile profile;
  profile.program = "/home/somebody/projects/simulation/build/bin/simulate --input of-some-length";
  profile.mpi = "openmpi";
  profile.ranks = ranks;
  analysis::SiteTotal site;
  site.function = "MPI_Neighbor_alltoallw_init";
  site.calls = 1234567;
  site.time = Time::ns(1'234'567'890);
  site.frames = {{"exchange_boundaries_of_all_fields", "/src/boundaries.cpp", 1037, "/bin/app",
                  0x1200, "boundaries_of_fields.cpp:1037"}};
  profile.sites = {site};
  analysis::FunctionTotal function;
  static_cast<analysis::CallTotal&>(function) = site;
  function.name = site.function;
  profile.functions = {function};
  profile.classes.assign(static_cast<std::size_t>(analysis::CallClass::kCount), site.time);
  profile.comms = {{"communicator of the rows of the grid", 8, false, 12, site.time, {}}};
  for (int r = 0; r < ranks; ++r) {
    analysis::RankTotal rank;
    rank.rank = WorldRank(r);
    rank.host = "node0123.cluster.somewhere.example";
    rank.time = site.time;
    profile.per_rank.push_back(rank);
    profile.matrix.push_back({WorldRank(r), WorldRank((r + 1) % ranks), 10, Bytes(80)});
  }
  return profile;
}

// Three measured runs against two, with noise that is the same each time.
std::string example_comparison(int ranks, int events) {
  analysis::RunGroup sides[2];
  for (const int percent : {100, 103, 99, 92, 90}) {
    trace::Trace trace = test::halo_trace(ranks, events);
    trace.info.clock = trace::Clock::wall;
    for (auto& rank : trace.ranks)
      for (trace::Event& event : rank)
        for (Time* time : {&event.enter, &event.leave, &event.wait})
          *time = Time::ps(time->count_ps() / 100 * percent);
    analysis::RunGroup& side = sides[percent < 95 ? 1 : 0];
    side.push_back(analysis::group_run("run-" + std::to_string(percent) + ".ftr", trace));
  }
  return views::render_html_comparison(
      analysis::compare_groups(std::move(sides[0]), std::move(sides[1])), "timeline.html");
}

std::string make_page(const std::string& what, int ranks, int events, const std::string& out) {
  if (what == "trace") {
    write_trace(test::halo_trace(ranks, events), out);
    return read_whole_file(out, "the trace");
  }
  if (what == "profile") return views::render_call_profile_html(example_profile(ranks));
  if (what == "report") {
    const trace::Trace trace = test::halo_trace(ranks, events);
    return views::render_html_report(analysis::profile_trace(trace), analysis::traffic_of(trace),
                                     "timeline.html");
  }
  if (what == "compare") return example_comparison(ranks, events);
  if (what == "two")
    return views::render_html_runs(
        {views::encode_run("short", test::halo_trace(ranks, events)),
         views::encode_run("long", test::halo_trace(ranks, 2 * events))});
  if (what == "network") {
    const machine::Topology torus = machine::make_topology("torus:4x" + std::to_string(ranks / 4));
    const views::RunNetwork network{torus, machine::make_placement("block", torus, ranks)};
    const trace::Trace trace = test::halo_trace(ranks, events);
    return views::render_html_runs(
        {views::encode_run("torus", trace, {}, &network),
         views::encode_run("as it was", test::halo_trace(ranks, events))});
  }
  if (what == "wide") return views::render_html_timeline(test::wide_trace(ranks));
  return views::render_html_timeline(what == "mandel" ? test::mandel_trace()
                                                      : test::halo_trace(ranks, events));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: make_page mandel|halo|wide|two|network|report|compare|profile|trace RANKS "
                 "EVENTS OUT.html\n";
    return 2;
  }
  try {
    const std::string page = make_page(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
    std::ofstream out(argv[4], std::ios::binary);
    out << page;
    return out.flush() ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
