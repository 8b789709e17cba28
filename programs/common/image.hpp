// image.hpp - pictures of results as binary PGM (grey) or PPM (colour) files.
#ifndef PROGRAMS_COMMON_IMAGE_HPP
#define PROGRAMS_COMMON_IMAGE_HPP

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/points.hpp"

namespace programs {

// A grey picture, 0 (black) to 255 (white), row by row from the top.
struct Image {
  int rows = 0;
  int cols = 0;
  std::vector<std::uint8_t> pixels;
};

// Shows the smallest value black and the largest white.
template <typename T>
Image image_of(const std::vector<T>& values, int rows, int cols) {
  Image image{rows, cols, std::vector<std::uint8_t>(values.size())};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double span = static_cast<double>(*high) - static_cast<double>(*low);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double above = static_cast<double>(values[i]) - static_cast<double>(*low);
    image.pixels[i] = static_cast<std::uint8_t>(span > 0 ? 255 * above / span : 0);
  }
  return image;
}

// Plots points of the unit square (y upwards), joined into a closed line if `joined`.
inline void plot(Image* image, const std::vector<Point>& points, std::uint8_t shade, bool joined) {
  const auto dot = [&](double x, double y) {
    const int col = std::clamp(static_cast<int>(x * (image->cols - 1) + 0.5), 0, image->cols - 1);
    const int row =
        std::clamp(static_cast<int>((1 - y) * (image->rows - 1) + 0.5), 0, image->rows - 1);
    image->pixels[static_cast<std::size_t>(row) * image->cols + col] = shade;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point a = points[i];
    const Point b = joined ? points[(i + 1) % points.size()] : a;
    const int pieces = joined ? std::max(image->rows, image->cols) : 1;
    for (int k = 0; k < pieces; ++k) {
      const double t = static_cast<double>(k) / pieces;
      dot(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y));
    }
  }
}

// Writes `file` as PPM if it ends so, else as PGM. Returns the exit status.
inline int write_image(const char* program, const std::string& file, const Image& image) {
  const bool colour = file.ends_with(".ppm");
  std::FILE* out = std::fopen(file.c_str(), "wb");
  bool good = out != nullptr;
  if (out != nullptr) {
    std::fprintf(out, "P%c\n%d %d\n255\n", colour ? '6' : '5', image.cols, image.rows);
    for (const std::uint8_t grey : image.pixels) {
      // Colour: black over blue and orange to white, so that it also reads in grey.
      const int level = grey;
      const std::uint8_t rgb[3] = {static_cast<std::uint8_t>(std::clamp(2 * level - 128, 0, 255)),
                                   grey,
                                   static_cast<std::uint8_t>(level < 96    ? 2 * level
                                                             : level < 176 ? 192 - (level - 96)
                                                                           : 2 * level - 255)};
      if (colour) {
        std::fwrite(rgb, 1, 3, out);
      } else {
        std::fputc(grey, out);
      }
    }
    good = std::ferror(out) == 0;
    if (std::fclose(out) != 0) good = false;
  }
  if (!good) {
    std::fprintf(stderr, "%s: cannot write %s: %s\n", program, file.c_str(), std::strerror(errno));
  }
  return good ? 0 : 1;
}

}  // namespace programs

#endif  // PROGRAMS_COMMON_IMAGE_HPP
