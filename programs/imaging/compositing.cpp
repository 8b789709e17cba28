// compositing - pictures of spheres, drawn by all ranks and put together by binary swap.
//
// Each rank draws its own spheres, with their depth. Then the pictures are put together: in
// round k the ranks that differ in bit k each keep one half of their lines, send the other
// half's drawn pixels, and of two pixels take the nearer one (Kanbe et al. 2003, figure 8).
// At the end each rank has some lines of the whole picture, which the root gathers. Where
// the number of ranks is no power of two, the first ranks take over a neighbour's picture
// before.
//
// The work of a round is the pixels that are drawn in the half that is kept. --imbalance
// crowds the spheres into the upper part of the picture, so that those who keep upper
// halves have more to do; --split lines deals every other line instead of halves. The result
// is the same.
#include <algorithm>
#include <bit>

#include "common/distribution.hpp"
#include "common/image.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/random.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

enum Split { kHalves, kLines };

struct Arguments {
  int rows = 128;
  int cols = 128;
  int spheres = 64;
  int frames = 4;
  int imbalance = 0;  // per cent
  int split = kHalves;
  std::int64_t seed = 1;
};

constexpr int kTag = 1;
constexpr std::int64_t kBlank = INT64_MAX;
constexpr double kStepsPerDrawn = 6;
constexpr double kStepsPerTaken = 2;
constexpr int kWords = 2;  // of a drawn pixel that travels: where, what

// A pixel is its depth above its shade, so that the nearer of two is the lesser.
std::int64_t pixel(std::int64_t depth, int shade) {
  return depth * 256 + shade;
}

struct Sphere {
  int row, col, radius, depth, shade;
};

Sphere sphere(const Arguments& arguments, int frame, int number) {
  Random random(arguments.seed);
  random.skip(5 * (static_cast<std::int64_t>(frame) * arguments.spheres + number));
  // At 100 per cent all lie in the upper quarter.
  const int height = arguments.rows - arguments.rows * 3 / 4 * arguments.imbalance / 100;
  const int radius =
      1 + random.next_below(std::max(2, std::min(arguments.rows, arguments.cols) / 6));
  return {random.next_below(std::max(1, height)), random.next_below(arguments.cols), radius,
          1000 + random.next_below(1000), 1 + random.next_below(255)};
}

// A whole picture.
class Picture {
 public:
  explicit Picture(const Arguments& arguments)
      : cols_(arguments.cols),
        rows_(arguments.rows),
        pixels_(static_cast<std::size_t>(arguments.rows) * arguments.cols, kBlank) {}

  std::int64_t& at(int row, int col) {
    return pixels_[static_cast<std::size_t>(row) * cols_ + col];
  }
  const std::vector<std::int64_t>& pixels() const { return pixels_; }

  void draw(const Sphere& ball) {
    double drawn = 0;
    for (int row = std::max(0, ball.row - ball.radius);
         row <= std::min(rows_ - 1, ball.row + ball.radius); ++row) {
      for (int col = std::max(0, ball.col - ball.radius);
           col <= std::min(cols_ - 1, ball.col + ball.radius); ++col) {
        const int x = col - ball.col;
        const int y = row - ball.row;
        const int inside = ball.radius * ball.radius - x * x - y * y;
        if (inside < 0) continue;
        at(row, col) = std::min(at(row, col), pixel(ball.depth * 1000 - inside, ball.shade));
        ++drawn;
      }
    }
    FORETRACE_COMPUTE(kStepsPerDrawn * drawn);
  }

  // The drawn pixels of some lines, as where and what.
  std::vector<std::int64_t> pack(const std::vector<int>& lines) const {
    std::vector<std::int64_t> words;
    for (const int row : lines) {
      const std::size_t first = static_cast<std::size_t>(row) * cols_;
      for (std::size_t i = first; i < first + cols_; ++i) {
        if (pixels_[i] == kBlank) continue;
        words.push_back(static_cast<std::int64_t>(i));
        words.push_back(pixels_[i]);
      }
    }
    FORETRACE_COMPUTE(kStepsPerTaken * static_cast<double>(words.size() / kWords));
    return words;
  }

  void merge(const std::vector<std::int64_t>& words) {
    for (std::size_t i = 0; i < words.size(); i += kWords) {
      std::int64_t& mine = pixels_[static_cast<std::size_t>(words[i])];
      mine = std::min(mine, words[i + 1]);
    }
    FORETRACE_COMPUTE(kStepsPerTaken * static_cast<double>(words.size() / kWords));
  }

 private:
  int cols_;
  int rows_;
  std::vector<std::int64_t> pixels_;
};

std::vector<int> all_lines(const Arguments& arguments) {
  std::vector<int> lines(arguments.rows);
  for (int row = 0; row < arguments.rows; ++row) lines[row] = row;
  return lines;
}

// The lines that one of two partners keeps: the upper half or the lower one; or every
// other line.
std::vector<int> half_of(const std::vector<int>& lines, bool first, int split) {
  std::vector<int> half;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool in_first = split == kHalves ? i < lines.size() / 2 : i % 2 == 0;
    if (in_first == first) half.push_back(lines[i]);
  }
  return half;
}

// Who takes part in the rounds: a power of two of the ranks. Each of the first `folded`
// takes over the picture of the rank after it.
struct Team {
  explicit Team(int ranks)
      : members(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        folded(ranks - members) {}
  int rank_of(int member) const { return member < folded ? 2 * member : member + folded; }
  // -1: gives its picture away.
  int member_of(int rank) const {
    if (rank >= 2 * folded) return rank - folded;
    return rank % 2 == 0 ? rank / 2 : -1;
  }
  int members;
  int folded;
};

std::vector<std::int64_t> receive_from(int rank, std::size_t most) {
  std::vector<std::int64_t> words(most);
  MPI_Status status;
  MPI_Recv(words.data(), static_cast<int>(most), MPI_INT64_T, rank, kTag, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT64_T, &count);
  words.resize(static_cast<std::size_t>(count));
  return words;
}

// Returns the lines that this rank has of the whole picture in the end.
std::vector<int> composite(const Arguments& arguments, const Team& team, Picture* picture) {
  const Phase phase("composite");
  const int rank = world_rank();
  const int member = team.member_of(rank);
  const std::size_t most = static_cast<std::size_t>(arguments.rows) * arguments.cols * kWords;
  std::vector<int> lines = all_lines(arguments);
  if (member < 0) {
    const std::vector<std::int64_t> mine = picture->pack(lines);
    MPI_Send(mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, rank - 1, kTag,
             MPI_COMM_WORLD);
    return {};
  }
  if (member < team.folded) picture->merge(receive_from(rank + 1, most));
  for (int bit = 1; bit < team.members; bit *= 2) {
    const int partner = team.rank_of(member ^ bit);
    const bool first = (member & bit) == 0;
    const std::vector<std::int64_t> theirs = picture->pack(half_of(lines, !first, arguments.split));
    std::vector<std::int64_t> mine(most);
    MPI_Status status;
    MPI_Sendrecv(theirs.data(), static_cast<int>(theirs.size()), MPI_INT64_T, partner, kTag,
                 mine.data(), static_cast<int>(most), MPI_INT64_T, partner, kTag, MPI_COMM_WORLD,
                 &status);
    int count = 0;
    MPI_Get_count(&status, MPI_INT64_T, &count);
    mine.resize(static_cast<std::size_t>(count));
    lines = half_of(lines, first, arguments.split);
    picture->merge(mine);
  }
  return lines;
}

// The whole picture on the root, from the lines that each member has.
std::vector<std::int64_t> gather(const Arguments& arguments, const Picture& picture,
                                 const std::vector<int>& lines) {
  const Phase phase("gather");
  const std::vector<std::int64_t> mine = picture.pack(lines);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(world_size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, kRoot, MPI_COMM_WORLD);
  const Distribution parts(counts);
  std::vector<std::int64_t> words(world_rank() == kRoot ? parts.total() : 0);
  MPI_Gatherv(mine.data(), count, MPI_INT64_T, words.data(), parts.counts(), parts.displs(),
              MPI_INT64_T, kRoot, MPI_COMM_WORLD);
  Picture whole(arguments);
  if (world_rank() == kRoot) whole.merge(words);
  return whole.pixels();
}

Picture drawn(const Arguments& arguments, int frame, int first, int end) {
  const Phase phase("draw");
  Picture picture(arguments);
  for (int number = first; number < end; ++number) picture.draw(sphere(arguments, frame, number));
  return picture;
}

int output(const Options& options, const Arguments& arguments,
           const std::vector<std::int64_t>& all) {
  const Phase phase("output");
  const auto blank = std::count(all.begin(), all.end(), kBlank);
  print_result("compositing", Digest().add_all(all),
               fact("rows", arguments.rows) + " " + fact("cols", arguments.cols) + " " +
                   fact("drawn", static_cast<double>(all.size()) - static_cast<double>(blank)));
  int status = 0;
  if (!options.image().empty()) {
    std::vector<std::int32_t> shades;
    for (const std::int64_t one : all)
      shades.push_back(one == kBlank ? 0 : static_cast<std::int32_t>(one % 256));
    status |= write_image("compositing", options.image(),
                          image_of(shades, arguments.rows, arguments.cols));
  }
  if (options.check()) {
    const Picture expected = drawn(arguments, arguments.frames - 1, 0, arguments.spheres);
    status |= check_equal("compositing", "pixels", expected.pixels(), all);
  }
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("compositing", "pictures of spheres, put together by binary swap");
  options.add_integer("rows", &arguments.rows, 1, 10000, "rows of the picture");
  options.add_integer("cols", &arguments.cols, 1, 10000, "columns of the picture");
  options.add_integer("spheres", &arguments.spheres, 1, 1000000,
                      "spheres, dealt evenly to the ranks");
  options.add_integer("frames", &arguments.frames, 1, 10000,
                      "pictures; the last one is the result");
  options.add_integer("imbalance", &arguments.imbalance, 0, 100,
                      "how far the spheres crowd upwards, per cent");
  options.add_choice("split", &arguments.split, {"halves", "lines"},
                     "what partners divide a picture into");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  options.add_image();
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const Distribution spheres(arguments.spheres, world_size());
  const Team team(world_size());
  std::vector<std::int64_t> all;
  for (int frame = 0; frame < arguments.frames; ++frame) {
    Picture picture =
        drawn(arguments, frame, spheres.first(world_rank()), spheres.end(world_rank()));
    const std::vector<int> lines = composite(arguments, team, &picture);
    all = gather(arguments, picture, lines);
  }
  return world_rank() == kRoot ? output(options, arguments, all) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
