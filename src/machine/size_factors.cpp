#include "machine/size_factors.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace foretrace::machine {
namespace {

// An empty message lies as far below one of a byte as that below one of two.
double log_of(Bytes bytes) {
  return std::log(std::max(static_cast<double>(bytes.count), 0.5));
}

double log_of(int ranks) {
  return std::log(static_cast<double>(ranks));
}

// value(entry) between the entries around `at`, the nearest one's beyond them. Not of none.
template <class Entries, class Key, class Where, class Value>
double between(const Entries& entries, Key at, Where where, Value value) {
  const auto above = std::ranges::lower_bound(entries, at, {}, where);
  if (above == entries.begin()) return value(entries.front());
  if (above == entries.end()) return value(entries.back());
  const auto& below = *std::prev(above);
  const double low = value(below);
  const double share =
      (log_of(at) - log_of(below.*where)) / (log_of((*above).*where) - log_of(below.*where));
  return low + share * (value(*above) - low);
}

}  // namespace

double factor_at(std::span<const SizeFactor> known, Bytes bytes) {
  if (known.empty()) return 1;
  return between(known, bytes, &SizeFactor::bytes,
                 [](const SizeFactor& each) { return each.factor; });
}

double factor_at(std::span<const Correction> known, int ranks, Bytes bytes) {
  if (known.empty()) return 1;
  return std::exp(between(known, ranks, &Correction::ranks, [bytes](const Correction& row) {
    return between(row.factors, bytes, &SizeFactor::bytes,
                   [](const SizeFactor& each) { return std::log(each.factor); });
  }));
}

}  // namespace foretrace::machine
