// Return addresses of a small library and of programs, found again in their
// source (sample.cpp).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdio>
#include <string>

#include "sample.hpp"
#include "symbols/call_places.hpp"
#include "symbols/demangle.hpp"

namespace foretrace::symbols {
namespace {

struct Printed {
  std::uint64_t plain = 0;
  std::uint64_t inlined = 0;
};

// What a program built with sample_main.cpp prints; it is loaded at address 0.
Printed run(const std::string& program) {
  Printed printed;
  FILE* pipe = ::popen(program.c_str(), "r");
  if (!pipe) return printed;
  unsigned long long plain = 0;
  unsigned long long inlined = 0;
  if (std::fscanf(pipe, "0x%llx 0x%llx", &plain, &inlined) == 2) printed = {plain, inlined};
  ::pclose(pipe);
  return printed;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void expect(const Place& place, const std::string& function, int line) {
  EXPECT_EQ(place.function, function);
  EXPECT_EQ(last_part(place.file), "sample.cpp");
  EXPECT_EQ(place.line, line);
  EXPECT_EQ(format_place(place), "sample.cpp:" + std::to_string(line));
}

TEST(CallPlaces, SharedLibrary) {
  const Calls calls = sample::call_it(0);
  Dl_info info;
  link_map* map = nullptr;
  ASSERT_NE(::dladdr1(calls.plain, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP), 0);
  const auto offset = [&](const void* address) {
    return reinterpret_cast<std::uint64_t>(address) - map->l_addr;
  };
  CallPlaces places;
  expect(places.find(info.dli_fname, offset(calls.plain)), "sample::call_it", 14);
  expect(places.find(info.dli_fname, offset(calls.inlined)), "sample::helper", 10);
}

TEST(CallPlaces, ProgramAtFixedAddresses) {
  const Printed printed = run(FORETRACE_FIXED_SAMPLE);
  ASSERT_GT(printed.plain, 0u);
  CallPlaces places;
  expect(places.find(FORETRACE_FIXED_SAMPLE, printed.plain), "sample::call_it", 14);
  expect(places.find(FORETRACE_FIXED_SAMPLE, printed.inlined), "sample::helper", 10);
}

TEST(CallPlaces, WithoutLineNumbers) {
  CallPlaces places;
  const Place& place = places.find(FORETRACE_BARE_SAMPLE, 0x11e9);
  EXPECT_EQ(place.line, 0);
  EXPECT_EQ(format_place(place), "symbols_sample_bare+0x11e9");
}

TEST(CallPlaces, NoSuchFile) {
  CallPlaces places;
  for (const std::uint64_t offset : {0x0u, 0x10u}) {
    const Place& place = places.find("/no/such/file", offset);
    EXPECT_EQ(place.function, "");
    EXPECT_EQ(place.offset, offset);
  }
  EXPECT_EQ(format_place(places.find("/no/such/file", 0x10)), "file+0x10");
  // A file that is no program.
  EXPECT_EQ(places.find(FORETRACE_SOURCE_DIR "/LICENSE", 0x10).function, "");
}

TEST(CallPlaces, KnowsWhatItFound) {
  CallPlaces places;
  const Place* first = &places.find(FORETRACE_BARE_SAMPLE, 1);
  for (std::uint64_t offset = 2; offset < 500; ++offset) places.find(FORETRACE_BARE_SAMPLE, offset);
  EXPECT_EQ(first, &places.find(FORETRACE_BARE_SAMPLE, 1));
}

TEST(Demangle, CutsWhatIsNotTheName) {
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("exchange_halo_"), "exchange_halo_");
  EXPECT_EQ(demangle("_ZN4halo8exchangeEi"), "halo::exchange");
  EXPECT_EQ(demangle("_ZNK4Grid4sendEPKci"), "Grid::send");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_14sendEi"), "(anonymous namespace)::send");
  EXPECT_EQ(demangle("_Z8send_allIiEvT_"), "send_all<int>");
  EXPECT_EQ(demangle("_Z8send_allIFviEEvT_"), "send_all<void (int)>");
  EXPECT_EQ(demangle("_ZN4GridclEi"), "Grid::operator()");
  EXPECT_EQ(demangle("_Znot mangled"), "_Znot mangled");
}

}  // namespace
}  // namespace foretrace::symbols
