#include "live/call_sites.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>

extern char** environ;

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

std::string ask_addr2line(const std::string& file, const std::string& address) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  std::array<std::string, 5> words{"addr2line", "-s", "-e", file, address};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, "addr2line", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 512> buffer;
  ssize_t got = 0;
  while (error == 0 && (got = ::read(ends[0], buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  if (text.find('?') != std::string::npos) return {};
  return text.substr(0, text.find_first_of(" \n"));
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(static_cast<const char*>(digits.data()), end);
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
  const auto [entry, added] = known_.try_emplace({file, offset});
  if (added) {
    entry->second = ask_addr2line(file, hexadecimal(is_fixed(file) ? address - 1 : offset));
    if (entry->second.empty())
      entry->second = file.substr(file.rfind('/') + 1) + "+" + hexadecimal(offset);
  }
  return entry->second;
}

}  // namespace foretrace::live
