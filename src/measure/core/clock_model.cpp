#include "measure/core/clock_model.hpp"

#include <cmath>

namespace foretrace::measure {
namespace {

// The drift itself changes, with temperature, over minutes.
constexpr std::int64_t kOutOfDate = 10'000'000'000;

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

}  // namespace

std::int64_t ClockLine::to_common(std::int64_t ours) const {
  return ours + offset + rounded(drift * static_cast<double>(ours - at));
}

std::int64_t ClockLine::to_ours(std::int64_t common) const {
  // common - offset - at = (1 + drift) (ours - at)
  return at + rounded(static_cast<double>(common - offset - at) / (1 + drift));
}

void ClockModel::add(const ClockOffset& offset) {
  recent_.push_back(offset);
  while (recent_.size() > 2 && recent_[1].at < offset.at - kOutOfDate) recent_.pop_front();
  line_ = {offset.at, offset.offset, 0, offset.error};
  const ClockOffset& first = recent_.front();
  if (offset.at <= first.at) return;
  // A change that the errors of both could make is none.
  const std::int64_t change = offset.offset - first.offset;
  if (std::abs(change) <= offset.error + first.error) return;
  line_.drift = static_cast<double>(change) / static_cast<double>(offset.at - first.at);
}

}  // namespace foretrace::measure
