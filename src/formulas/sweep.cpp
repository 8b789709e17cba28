#include "formulas/sweep.hpp"

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"

namespace foretrace::formulas {
namespace {

constexpr std::size_t kMostValues = 10'000;
constexpr std::size_t kMostPoints = 1'000'000;

std::string without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

class AxisReader {
 public:
  explicit AxisReader(const std::string& text) : text_(text) {}

  SweepAxis run() {
    const std::size_t equals = text_.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError("--sweep " + text_ + ": expected NAME=VALUES, such as p=1..64");
    axis_.name = without_blanks(text_.substr(0, equals));
    for (std::size_t at = equals + 1; at <= text_.size();) {
      const std::size_t comma = std::min(text_.find(',', at), text_.size());
      item(text_.substr(at, comma - at));
      at = comma + 1;
    }
    return std::move(axis_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UsageError("--sweep " + text_ + ": " + message);
  }
  double value(const std::string& text) const { return parse_value(text, "--sweep " + text_); }
  void add(double value) {
    if (axis_.values.size() >= kMostValues) fail("more than 10,000 values");
    axis_.values.push_back(value);
  }

  void item(const std::string& text) {
    if (const std::size_t dots = text.find(".."); dots != std::string::npos)
      doubling(value(text.substr(0, dots)), value(text.substr(dots + 2)));
    else if (const std::size_t colon = text.find(':'); colon != std::string::npos)
      stepping(text, colon);
    else
      add(value(text));
  }

  void doubling(double from, double to) {
    if (!(from > 0 && to >= from)) fail("FROM..TO needs 0 < FROM <= TO");
    for (double each = from; each < to; each *= 2) add(each);
    add(to);
  }

  void stepping(const std::string& text, std::size_t colon) {
    const std::size_t second = text.find(':', colon + 1);
    const double from = value(text.substr(0, colon));
    const double to = value(text.substr(
        colon + 1, second == std::string::npos ? std::string::npos : second - colon - 1));
    const double step = second == std::string::npos ? 1 : value(text.substr(second + 1));
    if (!(step > 0 && to >= from)) fail("FROM:TO:STEP needs FROM <= TO and STEP > 0");
    // A little beyond the end, against rounding.
    const double count = std::floor((to - from) / step + 1e-9);
    if (!(count < static_cast<double>(kMostValues))) fail("more than 10,000 values");
    for (int i = 0; i <= static_cast<int>(count); ++i) add(from + i * step);
  }

  const std::string& text_;
  SweepAxis axis_;
};

std::optional<double> speedup_of(const ModelFile& model, const machine::MachineModel* machine,
                                 Values at, double time) {
  const auto ranks = at.find("p");
  if (ranks == at.end() || !(time > 0)) return std::nullopt;
  ranks->second = 1;
  try {
    return evaluate(model, machine, at).total.avg / time;
  } catch (const Error&) {
    return std::nullopt;  // the model holds from two ranks on
  }
}

}  // namespace

double parse_value(const std::string& padded, const std::string& what) {
  const std::string text = without_blanks(padded);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number))
    return number;
  if (const auto seconds = parse_seconds(text)) return *seconds;
  if (const auto bytes = parse_size(text)) return static_cast<double>(*bytes);
  throw UsageError(what + ": '" + text + "' is no number, size (64k) or time (0.5us)");
}

std::vector<std::pair<std::string, double>> parse_at(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, double>> out;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = without_blanks(word.substr(0, equals));
    if (name.empty() || equals == std::string::npos)
      throw UsageError("--at " + word + ": expected NAME=VALUE, such as p=8,n=1000");
    for (const auto& [known, unused] : out)
      if (known == name) throw UsageError("--at: '" + name + "' is given twice");
    out.emplace_back(name, parse_value(word.substr(equals + 1), "--at " + name));
  }
  return out;
}

SweepAxis parse_axis(const std::string& text) {
  return AxisReader(text).run();
}

Sweep sweep(const ModelFile& model, const machine::MachineModel* machine, const Values& at,
            const std::vector<SweepAxis>& axes) {
  Sweep out{axes, {}};
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) {
    count *= axis.values.size();
    if (count > kMostPoints) throw UsageError("--sweep: more than a million points");
  }
  for (std::size_t index = 0; index < count; ++index) {
    Values values = at;
    SweepPoint point{std::vector<double>(axes.size()), {}, {}};
    std::size_t rest = index;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      const std::vector<double>& choices = axes[axis].values;
      point.values[axis] = choices[rest % choices.size()];
      rest /= choices.size();
      values[axes[axis].name] = point.values[axis];
    }
    point.result = evaluate(model, machine, values);
    point.speedup = speedup_of(model, machine, values, point.result.total.avg);
    out.points.push_back(std::move(point));
  }
  return out;
}

}  // namespace foretrace::formulas
