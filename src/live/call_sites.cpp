#include "live/call_sites.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

namespace foretrace::live {
namespace {

// The file that is mapped at an address, and where in it.
bool find_file(pid_t process, std::uint64_t address, std::string& file, std::uint64_t& offset) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::uint64_t base = 0;
  std::string before;
  for (std::string entry; std::getline(maps, entry);) {
    std::istringstream words(entry);
    std::string range;
    std::string rest;
    std::string path;
    words >> range >> rest >> rest >> rest >> rest >> path;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const char* end = range.data() + range.size();
    const char* dash = std::from_chars(range.data(), end, from, 16).ptr;
    if (dash != end) std::from_chars(dash + 1, end, to, 16);
    if (path != before) base = from;
    before = path;
    if (address < from || address >= to || path.empty() || path[0] != '/') continue;
    file = path;
    offset = address - base;
    return true;
  }
  return false;
}

// Programs that are loaded where they were linked have absolute addresses.
bool is_fixed(const std::string& file) {
  constexpr std::size_t kTypeAt = 16;
  constexpr char kExecutable = 2;
  std::ifstream in(file, std::ios::binary);
  std::array<char, kTypeAt + 1> head{};
  return in.read(head.data(), head.size()) && head[kTypeAt] == kExecutable;
}

}  // namespace

std::string CallSites::describe(pid_t process, std::uint64_t address) {
  std::string file;
  std::uint64_t offset = 0;
  // The call itself is before the place that it returns to.
  if (address == 0 || !find_file(process, address - 1, file, offset)) return {};
  return symbols::format_place(places_.find(file, is_fixed(file) ? address : offset + 1));
}

}  // namespace foretrace::live
