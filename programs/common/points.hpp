// points.hpp - points of the plane, and the linear system made of them: the
// diagonally dominant matrix of distances that outer builds and sor solves.
#ifndef PROGRAMS_COMMON_POINTS_HPP
#define PROGRAMS_COMMON_POINTS_HPP

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/random.hpp"

namespace programs {

struct Point {
  double x = 0;
  double y = 0;
};

// Points first .. first+count-1 of the random sequence in the unit square,
// as x, y, x, y, ...
inline std::vector<double> random_points(std::uint64_t seed, int first, int count) {
  Random random(seed);
  random.skip(2 * static_cast<std::uint64_t>(first));
  std::vector<double> coordinates(2 * static_cast<std::size_t>(count));
  for (double& coordinate : coordinates) coordinate = random.next_unit();
  return coordinates;
}

inline std::vector<Point> as_points(const std::vector<double>& coordinates) {
  std::vector<Point> points(coordinates.size() / 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {coordinates[2 * i], coordinates[2 * i + 1]};
  }
  return points;
}

inline double distance(Point a, Point b) {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  return std::sqrt(dx * dx + dy * dy);
}

inline double distance_to_origin(Point a) {
  return distance(a, Point{});
}

}  // namespace programs

#endif  // PROGRAMS_COMMON_POINTS_HPP
