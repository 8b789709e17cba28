#include "measure/core/kernel_levels.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace foretrace::measure {
namespace {

std::string word_in(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// Of "48K" or "260M" the bytes; 0: not like that.
std::uint64_t bytes_in(const std::string& text) {
  std::uint64_t bytes = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      bytes = 10 * bytes + static_cast<std::uint64_t>(c - '0');
    else
      bytes *= c == 'K' ? 1024 : c == 'M' ? 1024 * 1024 : 0;
  }
  return bytes;
}

}  // namespace

// The kernel's view. The C library's sysconf() knows only some processors' caches.
CacheSizes find_cache_sizes() {
  CacheSizes sizes;
  for (int index = 0; index < 10; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (word_in(folder + "type") == "Instruction") continue;
    const std::string level = word_in(folder + "level");
    const std::uint64_t bytes = bytes_in(word_in(folder + "size"));
    if (level == "1") sizes.l1 = bytes;
    if (level == "2") sizes.l2 = bytes;
    if (level == "3") sizes.l3 = bytes;
  }
  sizes.memory = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
                 static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  sizes.cores = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  return sizes;
}

std::vector<KernelLevel> kernel_levels(const CacheSizes& caches) {
  const auto cores = static_cast<std::uint64_t>(caches.cores);
  std::vector<KernelLevel> levels;
  std::uint64_t last = 0;  // the largest cache so far
  const auto add = [&](const char* name, std::uint64_t cache, std::uint64_t bytes) {
    if (cache > last && bytes >= 2 * last) levels.push_back({name, bytes});
    last = std::max(last, cache);
  };
  add("l1", caches.l1, caches.l1 / 2);
  add("l2", caches.l2, caches.l2 / 2);
  add("l3", caches.l3, std::max(caches.l3 / (2 * cores), std::min(2 * caches.l2, caches.l3 / 2)));
  if (last > 0 && 2 * last * cores <= caches.memory / 4) levels.push_back({"memory", 2 * last});
  return levels;
}

}  // namespace foretrace::measure
