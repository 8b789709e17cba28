// options.hpp - the command line of the example programs.
//
// A program names its options and where their values go; the root parses the
// command line and share() broadcasts the values, which is the first thing
// that each program sends. Everything a program may be told besides its own
// options: --check, --help and, where a picture makes sense, --image FILE.
#ifndef PROGRAMS_COMMON_OPTIONS_HPP
#define PROGRAMS_COMMON_OPTIONS_HPP

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/mpi.hpp"

namespace programs {

class Options {
 public:
  Options(std::string program, std::string purpose)
      : program_(std::move(program)), purpose_(std::move(purpose)) {
    add_flag("check", &check_, "compare with a sequential version; status 1 if it differs");
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  template <typename Integer>
  void add_integer(std::string name, Integer* value, std::int64_t min, std::int64_t max,
                   const char* help) {
    const std::string range = std::to_string(min) + " to " + std::to_string(max);
    entries_.push_back({.name = std::move(name),
                        .help = std::string(help) + " (" + std::to_string(*value) + ")",
                        .expected = "a whole number from " + range,
                        .parse =
                            [=](std::string_view text) {
                              std::int64_t parsed = 0;
                              if (!parse_number(text, &parsed) || parsed < min || parsed > max) {
                                return false;
                              }
                              *value = static_cast<Integer>(parsed);
                              return true;
                            },
                        .pack = [=] { return static_cast<std::int64_t>(*value); },
                        .unpack = [=](std::int64_t word) { *value = static_cast<Integer>(word); }});
  }

  // A number in (min, max).
  void add_real(std::string name, double* value, double min, double max, const char* help) {
    char text[80];
    std::snprintf(text, sizeof text, "a number between %g and %g", min, max);
    char shown[40];
    std::snprintf(shown, sizeof shown, " (%g)", *value);
    entries_.push_back(
        {.name = std::move(name),
         .help = std::string(help) + shown,
         .expected = text,
         .parse =
             [=](std::string_view given) {
               double parsed = 0;
               if (!parse_number(given, &parsed)) return false;
               if (!(parsed > min && parsed < max)) return false;
               *value = parsed;
               return true;
             },
         .pack = [=] { return std::bit_cast<std::int64_t>(*value); },
         .unpack = [=](std::int64_t word) { *value = std::bit_cast<double>(word); }});
  }

  // One of `names`; the value is its index.
  void add_choice(std::string name, int* value, std::vector<std::string> names, const char* help) {
    std::string listed;
    for (const std::string& one : names) listed += (listed.empty() ? "" : "|") + one;
    const std::string shown = std::string(help) + ": " + listed + " (" + names[*value] + ")";
    entries_.push_back({.name = std::move(name),
                        .help = shown,
                        .expected = listed,
                        .parse =
                            [=](std::string_view given) {
                              const auto found = std::find(names.begin(), names.end(), given);
                              if (found == names.end()) return false;
                              *value = static_cast<int>(found - names.begin());
                              return true;
                            },
                        .pack = [=] { return std::int64_t{*value}; },
                        .unpack = [=](std::int64_t word) { *value = static_cast<int>(word); }});
  }

  void add_flag(std::string name, bool* value, const char* help) {
    entries_.push_back({.name = std::move(name),
                        .help = help,
                        .parse =
                            [=](std::string_view) {
                              *value = true;
                              return true;
                            },
                        .pack = [=] { return std::int64_t{*value}; },
                        .unpack = [=](std::int64_t word) { *value = word != 0; }});
  }

  void add_image() {
    entries_.push_back({.name = "image",
                        .help = "write the picture to FILE.pgm or FILE.ppm",
                        .expected = "a file name that ends in .pgm or .ppm",
                        .parse =
                            [this](std::string_view text) {
                              image_ = text;
                              return text.ends_with(".pgm") || text.ends_with(".ppm");
                            },
                        .pack = [] { return std::int64_t{0}; },
                        .unpack = [](std::int64_t) {}});
  }

  // Parses on the root and broadcasts. A value means: stop with that status.
  std::optional<int> share(int argc, char** argv) {
    std::vector<std::int64_t> words(entries_.size() + 1);
    if (world_rank() == kRoot) {
      words.back() = parse(argc, argv);
      for (std::size_t i = 0; i < entries_.size(); ++i) words[i] = entries_[i].pack();
    }
    MPI_Bcast(words.data(), static_cast<int>(words.size()), MPI_INT64_T, kRoot, MPI_COMM_WORLD);
    if (words.back() != kGoOn) return static_cast<int>(words.back());
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].unpack(words[i]);
    return std::nullopt;
  }

  bool check() const { return check_; }
  // The picture's file on the root; empty when none is wanted, and elsewhere.
  const std::string& image() const { return image_; }

 private:
  static constexpr std::int64_t kGoOn = -1;

  struct Entry {
    std::string name;
    std::string help;
    std::string expected = {};  // empty: a flag, which takes no value
    std::function<bool(std::string_view)> parse;
    std::function<std::int64_t()> pack;
    std::function<void(std::int64_t)> unpack;
  };

  template <typename Number>
  static bool parse_number(std::string_view text, Number* value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *value);
    return error == std::errc() && stop == end;
  }

  // Returns kGoOn or the exit status, and has then printed one line (or the help).
  std::int64_t parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string_view word = argv[i];
      if (word == "--help") return print_help();
      std::optional<std::string_view> value;
      if (const auto equals = word.find('='); equals != word.npos) {
        value = word.substr(equals + 1);
        word = word.substr(0, equals);
      }
      const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
        return word.starts_with("--") && word.substr(2) == one.name;
      });
      if (entry == entries_.end()) {
        return complain("unknown option '" + std::string(word) + "'; --help lists the options");
      }
      const bool takes_value = !entry->expected.empty();
      if (!takes_value && value) return complain("--" + entry->name + " takes no value");
      if (takes_value && !value) {
        if (i + 1 == argc) {
          return complain("--" + entry->name + ": expected " + entry->expected + ", found nothing");
        }
        value = argv[++i];
      }
      if (!entry->parse(value.value_or(""))) {
        return complain("--" + entry->name + ": expected " + entry->expected + ", found '" +
                        std::string(*value) + "'");
      }
    }
    return kGoOn;
  }

  std::int64_t complain(const std::string& what) const {
    std::fprintf(stderr, "%s: %s\n", program_.c_str(), what.c_str());
    return 2;
  }

  std::int64_t print_help() const {
    std::printf("%s: %s\n", program_.c_str(), purpose_.c_str());
    for (const Entry& entry : entries_) {
      std::printf("  --%-11s %s\n", entry.name.c_str(), entry.help.c_str());
    }
    return 0;
  }

  std::string program_;
  std::string purpose_;
  std::vector<Entry> entries_;
  bool check_ = false;
  std::string image_;
};

}  // namespace programs

#endif  // PROGRAMS_COMMON_OPTIONS_HPP
