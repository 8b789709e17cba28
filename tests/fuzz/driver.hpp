// A fuzz driver without libFuzzer: mutates seeds and feeds them to the target.
//
//   fuzz_machine N SEED     N cases from the random numbers of SEED
//   fuzz_machine FILE       one input, to look at a case again
//
// A target ends with a result or a foretrace::Error; anything else (another
// exception, a signal, more than kSlowest for a case) is a fault. The input of
// the case under way lies in the working folder as crash-NAME until it is over.
// A target defines kName, seeds() and run(); the same run() serves libFuzzer.
// For a long search: fuzz_trace 10000000 7, in a build with
// -DFORETRACE_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/whole_file.hpp"

namespace foretrace::fuzz {

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

inline std::string read_bytes(const std::string& path) {
  return read_if_possible(path);
}

// One small change. `words` are pieces of text that mean something to the
// parser.
inline void mutate_once(std::string& data, Random& random, const std::vector<std::string>& seeds,
                        const std::vector<std::string>& words) {
  const std::size_t at = below(random, data.size() + 1);
  const std::size_t length = below(random, data.size() - at + 1) % 64;
  switch (random() % 12) {
    case 0:
      if (at < data.size()) data[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      if (at < data.size()) data[at] = static_cast<char>(random());
      break;
    case 2:
      data.erase(at, length);
      break;
    case 3:
      data.insert(at, data.substr(below(random, data.size()), length));
      break;
    case 4:
      data.resize(at);
      break;
    case 5:
      data.insert(at, 1 + random() % 4, static_cast<char>(random()));
      break;
    case 6:
      if (!words.empty()) data.insert(at, words[below(random, words.size())]);
      break;
    case 7:
      if (!words.empty()) {
        const std::string& word = words[below(random, words.size())];
        data.replace(at, std::min(word.size(), data.size() - at), word);
      }
      break;
    case 8:
    case 9:
    case 10: {  // a digit, so that texts often stay well-formed
      const std::size_t digit = data.find_first_of("0123456789", at);
      if (digit != std::string::npos) data[digit] = static_cast<char>('0' + random() % 10);
    } break;
    default: {
      const std::string& other = seeds[below(random, seeds.size())];
      data = data.substr(0, at) + other.substr(below(random, other.size() + 1));
    }
  }
}

template <class Target>
int search(Target& target, std::uint64_t cases, std::uint32_t seed) {
  constexpr auto kSlowest = 5 * CLOCKS_PER_SEC;  // of CPU time: the machine may be loaded
  const std::vector<std::string> seeds = target.seeds();
  const std::vector<std::string> words = target.words();
  const std::string kept = std::string("crash-") + Target::kName;
  Random random(seed);
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    std::string data = seeds[below(random, seeds.size())];
    const std::size_t changes = 1 + below(random, 1 + random() % 8);
    for (std::size_t c = 0; c < changes; ++c) mutate_once(data, random, seeds, words);
    std::ofstream(kept, std::ios::binary | std::ios::trunc) << data;
    const std::clock_t start = std::clock();
    try {
      if (target.run(data)) ++accepted;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: case %llu of seed %u: %s; the input is in %s\n", Target::kName,
                   static_cast<unsigned long long>(i), seed, error.what(), kept.c_str());
      return 1;
    }
    if (std::clock() - start > kSlowest) {
      std::fprintf(stderr, "%s: case %llu of seed %u takes too long; the input is in %s\n",
                   Target::kName, static_cast<unsigned long long>(i), seed, kept.c_str());
      return 1;
    }
  }
  std::remove(kept.c_str());
  std::printf("%s: %llu cases, %llu of them accepted\n", Target::kName,
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(accepted));
  // Mutations that are all refused, or all accepted, test nothing.
  return cases >= 1000 && (accepted == 0 || accepted == cases) ? 1 : 0;
}

template <class Target>
int drive(Target target, int argc, char** argv) {
  if (argc == 2) return target.run(read_bytes(argv[1])) ? 0 : 1;
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CASES SEED | FILE\n", argv[0]);
    return 2;
  }
  return search(target, std::strtoull(argv[1], nullptr, 10),
                static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
}

}  // namespace foretrace::fuzz

#ifdef FORETRACE_LIBFUZZER
#define FORETRACE_FUZZ_MAIN(Target)                                                   \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    static Target target;                                                             \
    target.run(std::string(reinterpret_cast<const char*>(data), size));               \
    return 0;                                                                         \
  }
#else
#define FORETRACE_FUZZ_MAIN(Target)                      \
  int main(int argc, char** argv) {                      \
    return foretrace::fuzz::drive(Target(), argc, argv); \
  }
#endif
