// Places of calls as numbers of a trace: one for each place, defined once; the
// caller's where the call is made on its behalf.
#include "capture/call_sites.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "trace/trace_reader.hpp"

namespace foretrace::capture {
namespace {

class CallSitesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / ("sites-" + std::string(6, 'X'))).string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ / "run.ftr";
    trace::TraceInfo info;
    info.ranks = 1;
    trace::create_trace_file(path_, info);
    writer_ = trace::TraceWriter(path_, WorldRank(0), info.clock);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // How many sites the trace has, and the last of them.
  std::size_t read(trace::Site& last) {
    trace::TraceReader reader(path_);
    trace::Event event;
    while (reader.next(WorldRank(0), event)) {
    }
    const std::size_t count = reader.sites(WorldRank(0));
    if (count > 0) last = reader.site(WorldRank(0), static_cast<trace::SiteId>(count));
    return count;
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
  trace::TraceWriter writer_;
};

// In the place of a wrapper.
[[gnu::noinline]] trace::SiteId call(CallSites& sites, trace::TraceWriter& writer) {
  const trace::SiteId site =
      sites.number({__builtin_return_address(0), __builtin_dwarf_cfa()}, writer);
  asm volatile("" ::: "memory");
  return site;
}

TEST_F(CallSitesTest, EachPlaceIsDefinedOnce) {
  CallSites sites;
  trace::SiteId first[3];
  for (trace::SiteId& site : first) site = call(sites, writer_);
  const trace::SiteId second = call(sites, writer_);
  EXPECT_EQ(first[0], 1u);
  EXPECT_EQ(first[1], 1u);
  EXPECT_EQ(first[2], 1u);
  EXPECT_EQ(second, 2u);
  trace::Site last;
  EXPECT_EQ(read(last), 2u);
  EXPECT_EQ(last.object, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_GT(last.offset, 0u);
  EXPECT_LT(last.offset, std::filesystem::file_size(last.object) * 4);
}

TEST_F(CallSitesTest, MoreThanTheFirstTableHolds) {
  CallSites sites;
  const auto somewhere = reinterpret_cast<std::uint64_t>(&::malloc);
  const auto number = [&](std::uint64_t i) {
    return sites.number({reinterpret_cast<const void*>(somewhere + i), nullptr}, writer_);
  };
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(number(i), i + 1);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(number(i), i + 1);
  trace::Site last;
  EXPECT_EQ(read(last), 1000u);
}

TEST_F(CallSitesTest, WhereNoFileIs) {
  CallSites sites;
  EXPECT_EQ(sites.number({}, writer_), 0u);
  EXPECT_EQ(sites.number({reinterpret_cast<const void*>(16), nullptr}, writer_), 0u);
  trace::Site last;
  EXPECT_EQ(read(last), 0u);
}

[[gnu::noinline]] int compare(const void* x, const void* y) {
  (void)x, (void)y;
  return 0;
}

// The program's own frames are left out here, as those of MPI's Fortran library
// are: the place is in who called the program, the C library.
TEST_F(CallSitesTest, TheCallerOfWhatIsLeftOut) {
  CallSites sites(reinterpret_cast<const void*>(&compare));
  trace::SiteId found[2];
  for (trace::SiteId& site : found) site = call(sites, writer_);
  EXPECT_EQ(found[0], 1u);
  EXPECT_EQ(found[1], 1u);
  trace::Site last;
  EXPECT_EQ(read(last), 1u);
  EXPECT_NE(last.object, std::filesystem::read_symlink("/proc/self/exe").string());
}

TEST_F(CallSitesTest, DescribesPlaces) {
  CallSites sites;
  const trace::SiteId site = call(sites, writer_);
  trace::Site place;
  ASSERT_EQ(read(place), 1u);
  const std::string text = sites.describe(site);
  EXPECT_EQ(text.substr(0, text.find('+')), std::filesystem::path(place.object).filename());
  EXPECT_EQ(std::stoull(text.substr(text.find("+0x") + 3), nullptr, 16), place.offset);
  EXPECT_EQ(sites.describe(0), "");
  EXPECT_EQ(sites.describe(site + 1), "");
}

// More places than the look-up keeps at hand, in this program's own code.
TEST_F(CallSitesTest, ManyPlacesKeepTheirNumbers) {
  CallSites sites;
  const auto* const code = reinterpret_cast<const char*>(&call);
  constexpr trace::SiteId kPlaces = 300;
  for (int round = 0; round < 3; ++round)
    for (trace::SiteId i = 0; i < kPlaces; ++i)
      ASSERT_EQ(sites.number({code + i + 1, nullptr}, writer_), i + 1) << round;
  trace::Site last;
  EXPECT_EQ(read(last), kPlaces);
}

}  // namespace
}  // namespace foretrace::capture
