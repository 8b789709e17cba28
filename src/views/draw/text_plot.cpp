#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "views/draw/markup.hpp"
#include "views/draw/plot.hpp"
#include "views/draw/plot_axis.hpp"

namespace foretrace::views {
namespace {

constexpr std::size_t kLabelWidth = 9;
constexpr std::size_t kLeastWidth = 20;
constexpr std::size_t kLeastHeight = 6;
constexpr std::size_t kCharactersPerTick = 10;

// One character for each series; where two meet, the later one's.
char sign_of(std::size_t series) {
  return static_cast<char>('a' + static_cast<char>(series % 26));
}

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : lines_(rows, std::string(columns, ' ')) {}

  void put(double column, double row, char c) {
    lines_[index(row, lines_.size())][index(column, lines_[0].size())] = c;
  }
  std::vector<std::string> lines_;

 private:
  static std::size_t index(double place, std::size_t count) {
    return static_cast<std::size_t>(
        std::clamp(std::round(place), 0.0, static_cast<double>(count - 1)));
  }
};

// Every column between two points, straight on the plot's axes.
void draw_piece(const std::vector<PlotPoint>& piece, const Axis& x, const Axis& y, char sign,
                Canvas& canvas) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const double column = x.place(piece[i].x);
    const double row = y.place(piece[i].y);
    canvas.put(column, row, sign);
    if (i == 0) continue;
    const double before = x.place(piece[i - 1].x);
    const double row_before = y.place(piece[i - 1].y);
    for (double at = std::ceil(before); at < column; ++at)
      canvas.put(at, row_before + (row - row_before) * (at - before) / (column - before), sign);
  }
}

}  // namespace

std::string render_text_plot(const Plot& plot, std::size_t width, std::size_t height) {
  const std::size_t columns = std::max(width, kLeastWidth + kLabelWidth + 2) - kLabelWidth - 2;
  const std::size_t rows = std::max(height, kLeastHeight + plot.series.size()) - plot.series.size();
  const Axis x = x_axis(plot, 0, static_cast<double>(columns - 1));
  const Axis y = y_axis(plot, static_cast<double>(rows - 1), 0);
  Canvas canvas(columns, rows);
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    for (const auto& piece : plot.series[i].pieces) draw_piece(piece, x, y, sign_of(i), canvas);

  std::vector<std::string> labels(rows);
  for (const Tick& tick : y_ticks(y))
    labels[static_cast<std::size_t>(std::round(y.place(tick.value)))] = tick.label;
  std::string out = plain_text(plot.y_label + " over " + plot.x_label) + "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = fmt::format("{:>{}} {}{}", labels[row], kLabelWidth,
                                   labels[row].empty() ? '|' : '+', canvas.lines_[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  std::string axis(columns, '-');
  std::string below(columns + kLabelWidth + 2, ' ');
  for (const Tick& tick : x_ticks(x, static_cast<int>(columns / kCharactersPerTick))) {
    const auto at = static_cast<std::size_t>(std::round(x.place(tick.value)));
    axis[at] = '+';
    std::string label = tick.label;
    std::erase(label, ' ');
    const std::size_t begin = at + kLabelWidth + 2 - label.size() / 2;
    below.resize(std::max(below.size(), begin + label.size()), ' ');
    below.replace(begin, label.size(), label);
  }
  below.erase(below.find_last_not_of(' ') + 1);
  out += std::string(kLabelWidth + 1, ' ') + "+" + axis + "\n" + below + "\n";
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    out += fmt::format("  {}  {}\n", sign_of(i), plain_text(plot.series[i].label));
  return out;
}

}  // namespace foretrace::views
