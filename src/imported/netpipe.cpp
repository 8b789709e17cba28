#include "imported/netpipe.hpp"

#include <cmath>

#include "base/error.hpp"
#include "imported/lines.hpp"
#include "machine/pair.hpp"

namespace foretrace::imported {
namespace {

constexpr double kNetpipeResolution = 1e-8;
// Below, the printed time has too few digits to compare the rate with.
constexpr double kComparable = 1e-6;
constexpr double kMostOff = 0.1;

// What tells that these columns are NetPIPE's; its mega is 2^20.
void check_rate(const Lines& lines, std::uint64_t bytes, double rate, double seconds) {
  if (bytes == 0 || seconds < kComparable) return;
  const double megabits = 8 * static_cast<double>(bytes) / seconds / 0x1p20;
  if (std::fabs(rate / megabits - 1) > kMostOff)
    lines.fail("size, rate and time do not agree; expected BYTES MEGABITS-PER-SECOND SECONDS");
}

}  // namespace

Measurements read_netpipe(const std::vector<InputFile>& files) {
  Measurements out;
  int launch = 0;
  for (const InputFile& file : files) {
    Lines lines(file.text, file.name);
    ++launch;
    bool any = false;
    while (const auto line = lines.next()) {
      const auto words = words_of(*line);
      if (words.empty()) continue;
      if (words.size() != 3)
        lines.fail("expected BYTES MEGABITS-PER-SECOND SECONDS, found '" + shown(*line) + "'");
      const std::uint64_t bytes = lines.whole(words[0], "a size in bytes");
      const double seconds = lines.amount(words[2], "a time in seconds");
      check_rate(lines, bytes, lines.amount(words[1], "a rate"), seconds);
      if (seconds == 0) lines.fail("a time of 0");
      out.add("pingpong", machine::kPair, bytes, launch, 2 * seconds);
      out.add("recv", machine::kPair, bytes, launch, seconds);
      any = true;
    }
    if (!any) throw Error(file.name + ": is empty");
  }
  out.methods["pingpong"] = "twice NetPIPE's time";
  out.methods["recv"] =
      "NetPIPE's time, half of a round trip: from the send's start until the message is there";
  out.resolution = kNetpipeResolution;
  return out;
}

}  // namespace foretrace::imported
