// registration - finds how far the rows of one image are shifted against another.
//
// Control points stand on every --spacing-th row; rows between two of them are shifted by
// what lies between. In each iteration every point tries to go one column to the left or
// right, whatever makes the rows around it more alike. The rows lie distributed over the
// ranks, so a point near a border belongs to a group of ranks: its members compare their
// own rows and send what they found to the first of them, which decides and replies
// (Kanbe et al. 2003, figure 7).
//
// As a beginner would write it (--reply now), each rank goes through its points from the
// top and waits for each reply. So the first point of a rank waits for the last one of the
// rank before: ranks work one after another. With --reply late replies are read after the
// last point. --imbalance makes the last quarter of the rows wider; --share weighted deals
// the rows by their pixels. The result is the same in all cases.
#include <array>
#include <cstdlib>

#include "common/distribution.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

enum Reply { kNow, kLate };
enum Sharing { kEven, kWeighted };

struct Arguments {
  int rows = 240;
  int cols = 200;
  int spacing = 8;
  int iters = 5;
  int imbalance = 0;  // per cent
  int reply = kNow;
  int share = kEven;
};

constexpr int kMostShift = 8;
constexpr int kMargin = 2 * kMostShift;  // columns beyond those that are compared
constexpr double kStepsPerPixel = 3;

// How unlike the rows around a point are if it goes left, stays, goes right.
using Differences = std::array<std::int64_t, 3>;

// What everybody knows: sizes, who has which rows, which ranks a point concerns.
class Layout {
 public:
  Layout(const Arguments& arguments, int ranks)
      : arguments_(arguments), rows_(shares(arguments, ranks)) {}

  int points() const { return (arguments_.rows - 1) / arguments_.spacing + 2; }
  int width(int row) const { return width_of(arguments_, row); }
  const Distribution& rows() const { return rows_; }
  // The rows that a point acts on: [first, end).
  int first_row(int point) const { return std::max(0, (point - 1) * arguments_.spacing + 1); }
  int end_row(int point) const {
    return std::min(arguments_.rows, (point + 1) * arguments_.spacing);
  }
  bool empty(int point) const { return first_row(point) >= end_row(point); }
  int leader(int point) const {
    return rows_.owner(std::min(first_row(point), arguments_.rows - 1));
  }
  int last_member(int point) const {
    return empty(point) ? leader(point) : rows_.owner(end_row(point) - 1);
  }
  bool concerns(int point, int rank) const {
    return leader(point) <= rank && rank <= last_member(point) &&
           (rank == leader(point) || rows_.count(rank) > 0);
  }
  // By how much a row is shifted, whole columns.
  int shift(const std::vector<int>& points, int row) const {
    const int above = row / arguments_.spacing;
    const int past = row % arguments_.spacing;
    const int sum = points[above] * (arguments_.spacing - past) + points[above + 1] * past;
    return (sum + kMargin * arguments_.spacing) / arguments_.spacing - kMargin;
  }

 private:
  static int width_of(const Arguments& arguments, int row) {
    return row < arguments.rows * 3 / 4
               ? arguments.cols
               : arguments.cols + arguments.cols * arguments.imbalance / 100;
  }
  static Distribution shares(const Arguments& arguments, int ranks) {
    if (arguments.share == kEven) return {arguments.rows, ranks};
    std::int64_t all = 0;
    for (int row = 0; row < arguments.rows; ++row) all += width_of(arguments, row);
    std::vector<int> counts(ranks);
    std::int64_t before = 0;
    for (int row = 0; row < arguments.rows; ++row) {
      const std::int64_t middle = before + width_of(arguments, row) / 2;
      ++counts[static_cast<std::size_t>(middle * ranks / all)];
      before += width_of(arguments, row);
    }
    return Distribution(std::move(counts));
  }

  Arguments arguments_;
  Distribution rows_;
};

// The shift that is to be found: 0 to 4 and back, point by point.
int true_shift(int point) {
  return 4 - std::abs(point % 8 - 4);
}

int wave(int row, int col) {
  const int phase = ((col + 5 * row) % 64 + 64) % 64;
  return 4 * std::min(phase, 64 - phase);
}

// Some rows of both images; the second has a margin on both sides.
class Images {
 public:
  Images(const Layout& layout, int first, int end) : first_(first) {
    std::vector<int> truth(layout.points());
    for (int point = 0; point < layout.points(); ++point) truth[point] = true_shift(point);
    for (int row = first; row < end; ++row) {
      const int shift = layout.shift(truth, row);
      std::vector<std::int16_t> one(layout.width(row));
      std::vector<std::int16_t> other(layout.width(row) + 2 * kMargin);
      for (int col = 0; col < layout.width(row); ++col)
        one[col] = static_cast<std::int16_t>(wave(row, col) + (13 * row + 7 * col) % 5);
      for (int col = 0; col < static_cast<int>(other.size()); ++col)
        other[col] = static_cast<std::int16_t>(wave(row, col - kMargin - shift));
      one_.push_back(std::move(one));
      other_.push_back(std::move(other));
    }
  }

  std::int64_t difference(int row, int shift) const {
    const std::vector<std::int16_t>& one = one_[row - first_];
    const std::int16_t* other = other_[row - first_].data() + kMargin + shift;
    std::int64_t sum = 0;
    for (std::size_t col = 0; col < one.size(); ++col) {
      const int apart = one[col] - other[col];
      sum += apart * apart;
    }
    return sum;
  }

 private:
  int first_;
  std::vector<std::vector<std::int16_t>> one_;
  std::vector<std::vector<std::int16_t>> other_;
};

// The local calculation: over those rows of [first, end) on which the point acts.
Differences compare(const Layout& layout, const Images& images, std::vector<int> points, int point,
                    int first, int end) {
  Differences sums{};
  const int here = points[point];
  double pixels = 0;
  for (int row = std::max(first, layout.first_row(point));
       row < std::min(end, layout.end_row(point)); ++row) {
    for (int move = -1; move <= 1; ++move) {
      points[point] = std::clamp(here + move, -kMostShift, kMostShift);
      sums[move + 1] += images.difference(row, layout.shift(points, row));
    }
    pixels += 3.0 * layout.width(row);
  }
  FORETRACE_COMPUTE(kStepsPerPixel * pixels);
  return sums;
}

// Where a point goes; it stays unless another place is better.
int decide(int here, const Differences& sums) {
  const int move = sums[0] < sums[1] && sums[0] <= sums[2] ? -1 : sums[2] < sums[1] ? 1 : 0;
  return std::clamp(here + move, -kMostShift, kMostShift);
}

// A point of the leader's: adds up what the members found, and tells them.
int lead(const Layout& layout, int point, int here, Differences sums) {
  for (int member = layout.leader(point) + 1; member <= layout.last_member(point); ++member) {
    if (!layout.concerns(point, member)) continue;
    Differences theirs{};
    MPI_Recv(theirs.data(), 3, MPI_INT64_T, member, point, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) sums[i] += theirs[i];
  }
  const int decided = decide(here, sums);
  for (int member = layout.leader(point) + 1; member <= layout.last_member(point); ++member) {
    if (layout.concerns(point, member))
      MPI_Send(&decided, 1, MPI_INT, member, point, MPI_COMM_WORLD);
  }
  return decided;
}

int read_reply(const Layout& layout, int point) {
  int decided = 0;
  MPI_Recv(&decided, 1, MPI_INT, layout.leader(point), point, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return decided;
}

std::vector<int> iterate(const Layout& layout, const Images& images, const std::vector<int>& points,
                         int reply) {
  const int rank = world_rank();
  std::vector<int> next = points;
  for (int point = 0; point < layout.points(); ++point) {
    if (!layout.concerns(point, rank)) continue;
    const Differences sums =
        compare(layout, images, points, point, layout.rows().first(rank), layout.rows().end(rank));
    if (layout.leader(point) == rank) {
      next[point] = lead(layout, point, points[point], sums);
      continue;
    }
    MPI_Send(sums.data(), 3, MPI_INT64_T, layout.leader(point), point, MPI_COMM_WORLD);
    if (reply == kNow) next[point] = read_reply(layout, point);
  }
  if (reply == kLate) {
    for (int point = 0; point < layout.points(); ++point) {
      if (layout.concerns(point, rank) && layout.leader(point) != rank)
        next[point] = read_reply(layout, point);
    }
  }
  return next;
}

// All points on the root; a point's leader knows it.
std::vector<int> gather(const Layout& layout, const std::vector<int>& points) {
  std::vector<int> counts(world_size());
  for (int point = 0; point < layout.points(); ++point) ++counts[layout.leader(point)];
  const Distribution led(counts);
  std::vector<int> all(world_rank() == kRoot ? layout.points() : 0);
  MPI_Gatherv(points.data() + led.first(world_rank()), led.count(world_rank()), MPI_INT, all.data(),
              led.counts(), led.displs(), MPI_INT, kRoot, MPI_COMM_WORLD);
  return all;
}

int output(const Options& options, const Arguments& arguments, const std::vector<int>& all) {
  const Phase phase("output");
  int right = 0;
  for (int point = 0; point < static_cast<int>(all.size()); ++point)
    right += all[point] == true_shift(point) ? 1 : 0;
  print_result("registration", Digest().add_all(all),
               fact("rows", arguments.rows) + " " +
                   fact("points", static_cast<double>(all.size())) + " " + fact("right", right));
  if (!options.check()) return 0;
  const Layout alone(arguments, 1);
  const Images images(alone, 0, arguments.rows);
  std::vector<int> expected(alone.points());
  for (int i = 0; i < arguments.iters; ++i) {
    const std::vector<int> before = expected;
    for (int point = 0; point < alone.points(); ++point)
      expected[point] =
          decide(before[point], compare(alone, images, before, point, 0, arguments.rows));
  }
  return check_equal("registration", "points", expected, all);
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("registration", "how far the rows of one image are shifted against another");
  options.add_integer("rows", &arguments.rows, 1, 100000, "rows of the images");
  options.add_integer("cols", &arguments.cols, 1, 100000, "columns of the images");
  options.add_integer("spacing", &arguments.spacing, 1, 10000,
                      "rows from one control point to the next");
  options.add_integer("iters", &arguments.iters, 1, 10000, "iterations");
  options.add_integer("imbalance", &arguments.imbalance, 0, 10000,
                      "by how many per cent the last quarter of the rows is wider");
  options.add_choice("reply", &arguments.reply, {"now", "late"},
                     "when members of a group read their leader's reply");
  options.add_choice("share", &arguments.share, {"even", "weighted"},
                     "how rows are dealt to ranks");
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const Layout layout(arguments, world_size());
  const Images images(layout, layout.rows().first(world_rank()), layout.rows().end(world_rank()));
  std::vector<int> points(layout.points());
  {
    const Phase phase("register");
    for (int i = 0; i < arguments.iters; ++i)
      points = iterate(layout, images, points, arguments.reply);
  }
  std::vector<int> all;
  {
    const Phase phase("gather");
    all = gather(layout, points);
  }
  if (world_rank() != kRoot) return 0;
  return output(options, arguments, all);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
