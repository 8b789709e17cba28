// Places of calls as numbers: one for each place, defined once; the caller's where
// the call is made on its behalf.
#include "callers/call_sites.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace foretrace::callers {
namespace {

// Numbers places in the order in which they come.
struct Places {
  std::vector<trace::Site> all;

  std::uint64_t find(CallSites& sites, const CallPoint& point) {
    return sites
        .find(point,
              [this](const trace::Site& site) {
                all.push_back(site);
                return all.size();
              })
        .number;
  }
};

std::string this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

// In the place of a wrapper.
[[gnu::noinline]] std::uint64_t call(CallSites& sites, Places& places) {
  const std::uint64_t site =
      places.find(sites, {__builtin_return_address(0), __builtin_dwarf_cfa()});
  asm volatile("" ::: "memory");
  return site;
}

TEST(CallSites, EachPlaceIsDefinedOnce) {
  CallSites sites;
  Places places;
  std::uint64_t first[3];
  for (std::uint64_t& site : first) site = call(sites, places);
  const std::uint64_t second = call(sites, places);
  EXPECT_EQ(first[0], 1u);
  EXPECT_EQ(first[1], 1u);
  EXPECT_EQ(first[2], 1u);
  EXPECT_EQ(second, 2u);
  ASSERT_EQ(places.all.size(), 2u);
  const trace::Site& last = places.all.back();
  EXPECT_EQ(last.object, this_program());
  EXPECT_GT(last.offset, 0u);
  EXPECT_LT(last.offset, std::filesystem::file_size(last.object) * 4);
}

TEST(CallSites, MoreThanTheFirstTableHolds) {
  CallSites sites;
  Places places;
  const auto somewhere = reinterpret_cast<std::uint64_t>(&::malloc);
  const auto number = [&](std::uint64_t i) {
    return places.find(sites, {reinterpret_cast<const void*>(somewhere + i), nullptr});
  };
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(number(i), i + 1);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(number(i), i + 1);
  EXPECT_EQ(places.all.size(), 1000u);
}

TEST(CallSites, WhereNoFileIs) {
  CallSites sites;
  Places places;
  EXPECT_EQ(places.find(sites, {}), 0u);
  EXPECT_EQ(places.find(sites, {reinterpret_cast<const void*>(16), nullptr}), 0u);
  EXPECT_TRUE(places.all.empty());
}

[[gnu::noinline]] int compare(const void* x, const void* y) {
  (void)x, (void)y;
  return 0;
}

// The program's own frames are left out here, as those of MPI's Fortran library
// are: the place is in who called the program, the C library.
TEST(CallSites, TheCallerOfWhatIsLeftOut) {
  CallSites sites(reinterpret_cast<const void*>(&compare));
  Places places;
  std::uint64_t found[2];
  for (std::uint64_t& site : found) site = call(sites, places);
  EXPECT_EQ(found[0], 1u);
  EXPECT_EQ(found[1], 1u);
  ASSERT_EQ(places.all.size(), 1u);
  EXPECT_NE(places.all.front().object, this_program());
}

TEST(CallSites, TellsWhetherALibraryCalls) {
  const auto define = [](const trace::Site&) { return std::uint64_t{1}; };
  const CallPoint here{reinterpret_cast<const char*>(&call) + 1, __builtin_dwarf_cfa()};
  CallSites program, library(reinterpret_cast<const void*>(&compare));
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(program.find(here, define).by_library);
    EXPECT_TRUE(library.find(here, define).by_library);
  }
}

TEST(CallSites, DescribesPlaces) {
  CallSites sites;
  Places places;
  const std::uint64_t site = call(sites, places);
  ASSERT_EQ(places.all.size(), 1u);
  const trace::Site& place = places.all.front();
  const std::string text = sites.describe(site);
  EXPECT_EQ(text.substr(0, text.find('+')), std::filesystem::path(place.object).filename());
  EXPECT_EQ(std::stoull(text.substr(text.find("+0x") + 3), nullptr, 16), place.offset);
  EXPECT_EQ(sites.describe(0), "");
  EXPECT_EQ(sites.describe(site + 1), "");
}

// More places than the look-up keeps at hand, in this program's own code.
TEST(CallSites, ManyPlacesKeepTheirNumbers) {
  CallSites sites;
  Places places;
  const auto* const code = reinterpret_cast<const char*>(&call);
  constexpr std::uint64_t kPlaces = 300;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < kPlaces; ++i)
      ASSERT_EQ(places.find(sites, {code + i + 1, nullptr}), i + 1) << round;
  EXPECT_EQ(places.all.size(), kPlaces);
}

}  // namespace
}  // namespace foretrace::callers
