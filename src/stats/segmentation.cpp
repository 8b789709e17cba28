#include "stats/segmentation.hpp"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <set>

#include "stats/continuous_lines.hpp"
#include "stats/curve_cells.hpp"
#include "stats/piece_search.hpp"
#include "stats/piece_validation.hpp"

namespace foretrace::stats {
namespace {

// A cell this many times its neighbours' median is wild.
constexpr double kWildFactor = 1.4;
// How far a kink may move from where the search for jumps saw a break, in rows.
constexpr std::size_t kKinkRows = 2;
// A jump is significant when chance alone would show it this seldom.
constexpr double kChance = 0.001;
// The noise of all rows counts like so many degrees of freedom of the pieces at hand.
constexpr double kPriorDegrees = 8;

class Segmenter {
 public:
  Segmenter(const std::vector<CurvePoint>& points, const SegmentSettings& settings)
      : settings_(settings), data_(points, settings.negligible) {
    search_.least = std::max<std::size_t>(settings.least_points, 2);
    search_.most = std::max<std::size_t>(settings.most_pieces, 1);
  }

  Segmentation run() {
    if (data_.left_out() > 0) note(Note::left_out);
    const std::size_t n = data_.x().size();
    if (n == 0) {
      note(Note::no_points);
      return finish();
    }
    if (n == 1) note(Note::one_size);
    if (data_.groups() == 1) note(Note::one_group);
    cells_ = data_.cells();
    force_given();
    if (n < 2 * search_.least && n > 1) note(Note::too_few_sizes);
    clean(cells_);
    const std::vector<Division> divisions = best_divisions(cells_, search_);
    result_.fewest_pieces = divisions.front().size();
    result_.noise = noise_about(data_, cells_, divisions.back());
    noise_ = std::max(result_.noise, settings_.least_scale);
    folds_ = folds_of(data_);
    for (Fold& fold : folds_) clean(fold.cells);
    const Division& chosen = divisions[choose(divisions.size())];
    result_.noise = noise_about(data_, cells_, chosen);
    noise_ = std::max(result_.noise, settings_.least_scale);
    place_breaks(chosen);
    fit(result_, cells_);
    merge_kinks();
    measure_jumps();
    return finish();
  }

 private:
  void note(Note what) { notes_.insert(what); }

  Segmentation finish() {
    result_.notes.assign(notes_.begin(), notes_.end());
    return std::move(result_);
  }

  // First row above x.
  std::size_t row_above(double x) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(data_.x(), x) - data_.x().begin());
  }

  void force_given() {
    std::vector<double> given = settings_.given;
    std::ranges::sort(given);
    for (double x : given) {
      const std::size_t row = row_above(x);
      if (row == 0 || row == data_.x().size()) continue;
      if (!search_.forced.empty() && search_.forced.back() == row) continue;
      search_.forced.push_back(row);
      given_.push_back(x);
    }
  }

  void clean(Cells& cells) const {
    drop_wild_cells(cells, kWildFactor);
    drop_misfits(cells, search_, settings_.least_scale);
  }

  // The fewest pieces that cross-validation finds good enough.
  std::size_t choose(std::size_t candidates) {
    std::vector<std::vector<double>> losses(candidates);  // by candidate and fold
    for (const Fold& fold : folds_) {
      const std::vector<Division> divisions = best_divisions(fold.cells, search_);
      for (std::size_t k = 0; k < candidates; ++k)
        losses[k].push_back(
            loss_of(fold, data_, divisions[std::min(k, divisions.size() - 1)], noise_));
    }
    std::size_t best = 0;
    for (std::size_t k = 0; k < candidates; ++k) {
      double sum = 0;
      for (double value : losses[k]) sum += value;
      result_.losses.push_back(sum /
                               static_cast<double>(std::max<std::size_t>(losses[k].size(), 1)));
      if (result_.losses[k] < result_.losses[best]) best = k;
    }
    for (std::size_t k = 0; k < best; ++k)
      if (good_enough(losses[k], losses[best])) return k;
    return best;
  }

  void place_breaks(const Division& division) {
    const std::vector<double>& x = data_.x();
    for (std::size_t p = 1; p < division.size(); ++p) {
      std::size_t row = division[p];
      Break at;
      const auto forced = std::ranges::lower_bound(search_.forced, row);
      if (forced != search_.forced.end() && *forced == row) {
        at.kind = BreakKind::given;
        at.x = given_[static_cast<std::size_t>(forced - search_.forced.begin())];
      } else if (const auto known = confirmed_near(row)) {
        at.kind = BreakKind::jump;
        at.confirmed = true;
        at.x = *known;
        row = row_above(*known);
      } else {
        at.kind = BreakKind::jump;
        at.x = std::sqrt(x[row - 1] * x[row]);
      }
      at.below = x[row - 1];
      at.above = x[row];
      // Two breaks that were drawn to the same place are one.
      if (!result_.breaks.empty() && at.below <= result_.breaks.back().below) continue;
      result_.breaks.push_back(at);
    }
    for (std::size_t b = 0; b < result_.breaks.size(); ++b) judge(b);
  }

  std::optional<double> confirmed_near(std::size_t row) const {
    std::optional<double> best;
    std::size_t distance = 2;
    for (double x : settings_.confirmed) {
      const std::size_t other = row_above(x);
      if (other == 0 || other == data_.x().size()) continue;
      const std::size_t away = other > row ? other - row : row - other;
      if (away >= distance || std::ranges::binary_search(search_.forced, other)) continue;
      best = x;
      distance = away;
    }
    return best;
  }

  std::size_t begin_of(std::size_t piece) const {
    return piece == 0 ? 0 : row_above(result_.breaks[piece - 1].below);
  }
  std::size_t end_of(std::size_t piece) const {
    return piece == result_.breaks.size() ? data_.x().size()
                                          : row_above(result_.breaks[piece].below);
  }

  // A jump that was only found stays one when lines that meet are clearly worse.
  void judge(std::size_t b) {
    Break& at = result_.breaks[b];
    const std::size_t begin = begin_of(b);
    const std::size_t row = end_of(b);
    const std::size_t end = end_of(b + 1);
    const bool nothing = row == 1 && data_.x()[0] == 0;
    if (nothing || end - begin < 4) return;
    const std::vector<double> kink =
        place_kinks(cells_, begin, end, {std::sqrt(at.below * at.above)}, 1);
    const double met = fit_continuous(cells_, begin, end, kink).squares;
    const double apart =
        squares_about_lines(cells_, begin, row) + squares_about_lines(cells_, row, end);
    double measured = 0;
    for (std::size_t k = begin * cells_.curves; k < end * cells_.curves; ++k)
      measured += cells_.weight[k] > 0;
    const auto curves = static_cast<double>(cells_.curves);
    const double degrees = std::max(measured - 4 * curves, 0.0) + kPriorDegrees;
    const double of_cell = cell_noise();
    const double variance = (apart + kPriorDegrees * of_cell * of_cell) / degrees;
    const double worse = std::max(met - apart, 0.0);
    at.significance = std::sqrt(worse / variance);
    if (at.kind == BreakKind::given || at.confirmed) return;
    const boost::math::fisher_f distribution(curves, degrees);
    const double limit = boost::math::quantile(boost::math::complement(distribution, kChance));
    if (worse / curves / variance > limit &&
        jump_at(at, fit_lines(cells_, begin, row), fit_lines(cells_, row, end)) >=
            settings_.least_jump)
      return;
    at.kind = BreakKind::kink;
    at.x = kink.front();
  }

  // Standard deviation of a cell: that of a value, the median of so many groups.
  double cell_noise() const {
    const auto groups = static_cast<double>(data_.groups());
    return std::max(noise_ * (groups > 2 ? 1.2 : 1) / std::sqrt(groups), settings_.least_scale / 2);
  }

  static double jump_at(const Break& at, const Lines& lower, const Lines& upper) {
    const double x = std::max(at.x, 0.0);
    double largest = 0;
    for (std::size_t c = 0; c < lower.size(); ++c) {
      if (!lower[c].measured || !upper[c].measured) continue;
      const double below = lower[c].intercept + lower[c].slope * x;
      const double above = upper[c].intercept + upper[c].slope * x;
      if (below > 0) largest = std::max(largest, std::fabs(above / below - 1));
    }
    return largest;
  }

  // Pieces and their lines for the breaks there are.
  void fit(Segmentation& segments, const Cells& cells) const {
    const std::size_t count = segments.breaks.size() + 1;
    segments.pieces.assign(count, {});
    for (std::size_t first = 0; first < count;) {
      std::size_t last = first;
      std::vector<double> kinks;
      while (last + 1 < count && segments.breaks[last].kind == BreakKind::kink)
        kinks.push_back(segments.breaks[last++].x);
      const std::size_t begin = first == 0 ? 0 : row_above(segments.breaks[first - 1].x);
      const std::size_t end =
          last + 1 == count ? data_.x().size() : row_above(segments.breaks[last].x);
      if (kinks.empty()) {
        segments.pieces[first].lines = fit_lines(cells, begin, end);
      } else {
        ContinuousFit continuous = fit_continuous(cells, begin, end, kinks);
        for (std::size_t p = first; p <= last; ++p)
          segments.pieces[p].lines = std::move(continuous.pieces[p - first]);
      }
      first = last + 1;
    }
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t begin = p == 0 ? 0 : row_above(segments.breaks[p - 1].x);
      const std::size_t end = p + 1 == count ? data_.x().size() : row_above(segments.breaks[p].x);
      Piece& piece = segments.pieces[p];
      piece.distinct_x = end - begin;
      piece.from = data_.x()[std::min(begin, data_.x().size() - 1)];
      piece.to = data_.x()[end > 0 ? end - 1 : 0];
    }
  }

  // Puts the kinks of every run where they fit best together.
  void place_kinks_of_runs(Segmentation& segments) const {
    const std::size_t count = segments.breaks.size() + 1;
    for (std::size_t first = 0; first < count;) {
      std::size_t last = first;
      std::vector<double> kinks;
      while (last + 1 < count && segments.breaks[last].kind == BreakKind::kink)
        kinks.push_back(segments.breaks[last++].x);
      if (!kinks.empty()) {
        const std::size_t begin = first == 0 ? 0 : row_above(segments.breaks[first - 1].x);
        const std::size_t end =
            last + 1 == count ? data_.x().size() : row_above(segments.breaks[last].x);
        kinks = place_kinks(cells_, begin, end, kinks, kKinkRows);
        for (std::size_t k = 0; k < kinks.size(); ++k) {
          Break& at = segments.breaks[first + k];
          const std::size_t row = row_above(kinks[k]);
          at.x = kinks[k];
          at.below = data_.x()[row > 0 ? row - 1 : 0];
          at.above = data_.x()[std::min(row, data_.x().size() - 1)];
        }
      }
      first = last + 1;
    }
    fit(segments, cells_);
  }

  std::vector<double> losses_of(const Segmentation& segments) const {
    std::vector<double> losses;
    Segmentation learned;
    learned.breaks = segments.breaks;
    for (const Fold& fold : folds_) {
      fit(learned, fold.cells);
      losses.push_back(loss_of(fold, data_, learned, noise_));
    }
    return losses;
  }

  // Takes out the kink that is needed least as long as there is one that is not needed.
  void merge_kinks() {
    place_kinks_of_runs(result_);
    for (;;) {
      const std::vector<double> rich = losses_of(result_);
      std::optional<Segmentation> simpler;
      double least = HUGE_VAL;
      for (std::size_t b = 0; b < result_.breaks.size(); ++b) {
        if (result_.breaks[b].kind != BreakKind::kink) continue;
        Segmentation without = result_;
        without.breaks.erase(without.breaks.begin() + static_cast<std::ptrdiff_t>(b));
        place_kinks_of_runs(without);
        const double needed = need(losses_of(without), rich);
        if (needed > 1 || needed >= least) continue;
        least = needed;
        simpler = std::move(without);
      }
      if (!simpler) return;
      result_ = std::move(*simpler);
    }
  }

  void measure_jumps() {
    for (std::size_t b = 0; b < result_.breaks.size(); ++b)
      result_.breaks[b].jump =
          jump_at(result_.breaks[b], result_.pieces[b].lines, result_.pieces[b + 1].lines);
  }

  const SegmentSettings& settings_;
  CurveData data_;
  SearchSettings search_;
  std::vector<double> given_;  // that of each forced row
  Cells cells_;
  std::vector<Fold> folds_;
  double noise_ = 0;
  Segmentation result_;
  std::set<Note> notes_;
};

}  // namespace

std::size_t Segmentation::piece_of(double x) const {
  const auto at = std::ranges::lower_bound(breaks, x, {}, &Break::x);
  return static_cast<std::size_t>(at - breaks.begin());
}

std::optional<double> Segmentation::evaluate(std::size_t curve, double x) const {
  if (pieces.empty()) return std::nullopt;
  const Lines& lines = pieces[piece_of(x)].lines;
  if (curve >= lines.size() || !lines[curve].measured) return std::nullopt;
  return lines[curve].intercept + lines[curve].slope * x;
}

std::size_t Segmentation::run_start(std::size_t piece) const {
  while (piece > 0 && breaks[piece - 1].kind == BreakKind::kink) --piece;
  return piece;
}

Segmentation segment(const std::vector<CurvePoint>& points, const SegmentSettings& settings) {
  return Segmenter(points, settings).run();
}

}  // namespace foretrace::stats
