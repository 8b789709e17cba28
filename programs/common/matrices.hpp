// matrices.hpp - the input matrices that several programs share: the
// Mandelbrot set and the random matrix, by rows, so that any rank can make any
// row by itself.
#ifndef PROGRAMS_COMMON_MATRICES_HPP
#define PROGRAMS_COMMON_MATRICES_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"

namespace programs {

// Values of the random integer matrix: 0 .. kRandomLimit-1.
constexpr int kRandomLimit = 1000;

// Iterations of the Mandelbrot programs unless told otherwise.
constexpr int kMandelIterations = 45;

// One row of the set over [-2, 1] x [-1.5, 1.5], sampled at the middles of the
// cells, so that the picture is symmetric about its middle row. Returns the
// iterations done in the whole row.
inline std::int64_t mandelbrot_row(int row, int rows, int limit, std::span<std::int32_t> out) {
  constexpr double kLeft = -2.0;
  constexpr double kTop = 1.5;
  constexpr double kExtent = 3.0;
  const double imaginary = kTop - (row + 0.5) * kExtent / rows;
  const double width = static_cast<double>(out.size());
  std::int64_t done = 0;
  for (std::size_t col = 0; col < out.size(); ++col) {
    const double real = kLeft + (static_cast<double>(col) + 0.5) * kExtent / width;
    double x = 0;
    double y = 0;
    int iteration = 0;
    while (iteration < limit && x * x + y * y <= 4.0) {
      const double next = x * x - y * y + real;
      y = 2 * x * y + imaginary;
      x = next;
      ++iteration;
    }
    out[col] = iteration;
    done += iteration;
  }
  return done;
}

inline std::vector<std::int32_t> mandelbrot_matrix(int rows, int cols, int limit) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(rows) * cols);
  for (int row = 0; row < rows; ++row) {
    const std::size_t start = static_cast<std::size_t>(row) * cols;
    mandelbrot_row(row, rows, limit, std::span(all).subspan(start, static_cast<std::size_t>(cols)));
  }
  return all;
}

// Rows first .. first+rows-1 of the random matrix. Row by row, the elements are
// the successive numbers of one sequence.
inline std::vector<std::int32_t> random_rows(std::uint64_t seed, int first, int rows, int cols) {
  Random random(seed);
  random.skip(static_cast<std::uint64_t>(first) * cols);
  std::vector<std::int32_t> part(static_cast<std::size_t>(rows) * cols);
  for (std::int32_t& value : part) value = random.next_below(kRandomLimit);
  return part;
}

// The same with numbers in [-0.5, 0.5).
inline std::vector<double> random_real_rows(std::uint64_t seed, int first, int rows, int cols) {
  Random random(seed);
  random.skip(static_cast<std::uint64_t>(first) * cols);
  std::vector<double> part(static_cast<std::size_t>(rows) * cols);
  for (double& value : part) value = random.next_unit() - 0.5;
  return part;
}

}  // namespace programs

#endif  // PROGRAMS_COMMON_MATRICES_HPP
