#include "machine/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace foretrace::machine {
namespace {

double count(Bytes of) {
  return static_cast<double>(of.count);
}

// Seconds that one piece takes in a message of `bytes`.
double one_piece(const PieceTimes::value_type& known, Bytes bytes) {
  const auto& [piece, times] = known;
  const Bytes measured = std::min(bytes, times.back().bytes);
  return time_at(times, measured).seconds() * count(piece) / count(measured);
}

}  // namespace

Time pieces_time(const PieceTimes& known, Bytes bytes, Bytes piece) {
  if (known.empty() || piece.count == 0 || bytes.count == 0) return Time();
  const auto above = known.lower_bound(piece);
  double seconds = 0;
  if (above == known.end()) {
    seconds = one_piece(*std::prev(above), bytes);
  } else if (above == known.begin()) {
    seconds = one_piece(*above, bytes);
  } else {
    const auto below = std::prev(above);
    const double share = std::log(count(piece) / count(below->first)) /
                         std::log(count(above->first) / count(below->first));
    seconds = (1 - share) * one_piece(*below, bytes) + share * one_piece(*above, bytes);
  }
  return Time::from_seconds(seconds * count(bytes) / count(piece));
}

}  // namespace foretrace::machine
