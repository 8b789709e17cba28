// The page of a run on an architecture: the drawing, messages moving, a time line of entities,
// where each rank stands in its program; or two such runs side by side.
//
// One file that needs no other and no network (web/src/atwork). It computes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/recording.hpp"

namespace foretrace::views {

// What the ranks did. Times in picoseconds.
struct RankCall {
  std::int32_t rank = 0;
  std::int64_t enter = 0, leave = 0;
  std::uint32_t name = 0;   // of WatchedRanks::names
  std::uint32_t place = 0;  // of WatchedRanks::places
};

struct WatchedRanks {
  std::vector<int> entities;  // by rank: its processor; empty: no ranks ran
  std::vector<RankCall> calls;
  std::vector<std::string> names;
  std::vector<std::string> places;  // "halo.c:37"; the first is empty, not known
  std::uint64_t lost = 0;           // calls that were not kept
};

// One run as JSON, the data of a page. `end`: of the run.
std::string watched_json(const architecture::FlatArchitecture& architecture,
                         const architecture::Recording& recording, const WatchedRanks& ranks,
                         std::int64_t end, const std::string& title);

// The page of one run or two, each as watched_json() gives it; empty when this build has no pages.
std::string render_html_watch(const std::vector<std::string>& runs, const std::string& title);

// The runs of such a page, as JSON; none: it is no such page.
std::vector<std::string> runs_of_page(std::string_view page);

}  // namespace foretrace::views
