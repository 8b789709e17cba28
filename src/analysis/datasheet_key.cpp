#include "analysis/datasheet_key.hpp"

#include <algorithm>
#include <utility>

#include "stats/summary.hpp"

namespace foretrace::analysis {
namespace {

constexpr Bytes kSmall{8};
constexpr Bytes kLarge{1U << 20U};
constexpr int kTwo = 2;

constexpr std::pair<std::string_view, Bytes> kCalls[] = {
    {"barrier", Bytes(0)}, {"bcast", kSmall}, {"allreduce", kSmall}, {"alltoall", Bytes(1024)}};

std::optional<KeyMessage> message(const Datasheet& sheet, Bytes wanted) {
  const SheetFunction* there_and_back = sheet.find("pingpong");
  const SheetFunction* function = there_and_back ? there_and_back : sheet.find("recv");
  if (!function) return std::nullopt;
  const KnownRange& known = function->known;
  const Bytes bytes = std::clamp(wanted, known.least_bytes, known.most_bytes);
  SheetTime time = time_of(sheet, *function, kTwo, bytes);
  if (there_and_back)
    for (double* each : {&time.min, &time.avg, &time.max}) *each /= 2;
  return KeyMessage{function->function.name, time};
}

std::optional<KeyError> error_of(const Datasheet& sheet) {
  std::vector<double> means;
  KeyError error;
  for (const SheetFunction& each : sheet.functions) {
    if (!each.function.held_out) continue;
    means.push_back(each.function.held_out->mean);
    if (means.back() < error.worst) continue;
    error.worst = means.back();
    error.worst_function = each.function.name;
  }
  if (means.empty()) return std::nullopt;
  error.middle = stats::median(means);
  return error;
}

}  // namespace

KeyFigures key_figures(const Datasheet& sheet) {
  KeyFigures key;
  key.small = message(sheet, kSmall);
  key.large = message(sheet, kLarge);
  for (const auto& [name, bytes] : kCalls) {
    const SheetFunction* function = sheet.find(name);
    if (!function) continue;
    KeyCall call{std::string(name), bytes, function->group != SheetGroup::no_data, {}};
    for (const int ranks : sheet.ranks)
      call.times.push_back(time_of(sheet, *function, ranks, bytes));
    key.calls.push_back(std::move(call));
  }
  key.error = error_of(sheet);
  return key;
}

}  // namespace foretrace::analysis
