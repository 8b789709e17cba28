#include "trace/clocks.hpp"

namespace foretrace::trace {

Time ClockDrift::straightened(Time time) const {
  __extension__ using Wide = __int128;
  const Wide length = (to - from).count_ps();
  if (length <= 0) return time;
  const Wide product = Wide{(time - from).count_ps()} * change.count_ps();
  const Wide quotient = product / length;
  const Wide floor = product % length < 0 ? quotient - 1 : quotient;
  return time + Time::ps(static_cast<std::int64_t>(floor));
}

}  // namespace foretrace::trace
