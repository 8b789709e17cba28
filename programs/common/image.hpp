// image.hpp - pictures of results as binary PGM (grey) or PPM (colour) files.
#ifndef PROGRAMS_COMMON_IMAGE_HPP
#define PROGRAMS_COMMON_IMAGE_HPP

#include <algorithm>
#include <array>
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

// A picture's file: PPM if its name ends so, else PGM. Row by row in any order, so that others can
// look at it while it grows; it is black at first.
class ImageFile {
 public:
  ImageFile(const std::string& file, int rows, int cols)
      : colour_(file.ends_with(".ppm")), cols_(cols), out_(std::fopen(file.c_str(), "wb")) {
    if (out_ == nullptr) return;
    std::fprintf(out_, "P%c\n%d %d\n255\n", colour_ ? '6' : '5', cols, rows);
    start_ = std::ftell(out_);
    const std::vector<std::uint8_t> black(cols);
    for (int row = 0; row < rows; ++row) set_row(row, black.data());
  }
  ~ImageFile() { close(); }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  void set_row(int row, const std::uint8_t* pixels) {
    if (out_ == nullptr) return;
    std::fseek(out_, start_ + static_cast<long>(row) * cols_ * (colour_ ? 3 : 1), SEEK_SET);
    for (int col = 0; col < cols_; ++col) {
      if (colour_) {
        const auto rgb = colour_of(pixels[col]);
        std::fwrite(rgb.data(), 1, rgb.size(), out_);
      } else {
        std::fputc(pixels[col], out_);
      }
    }
  }
  // Others see what was set.
  void show() {
    if (out_ != nullptr) std::fflush(out_);
  }
  // Whether all could be written; else errno says why not.
  bool close() {
    if (out_ == nullptr) return good_;
    good_ = std::ferror(out_) == 0;
    if (std::fclose(out_) != 0) good_ = false;
    out_ = nullptr;
    return good_;
  }

 private:
  // Black over blue and orange to white, so that it also reads in grey.
  static std::array<std::uint8_t, 3> colour_of(std::uint8_t grey) {
    const int level = grey;
    return {static_cast<std::uint8_t>(std::clamp(2 * level - 128, 0, 255)), grey,
            static_cast<std::uint8_t>(level < 96    ? 2 * level
                                      : level < 176 ? 192 - (level - 96)
                                                    : 2 * level - 255)};
  }

  bool colour_;
  int cols_;
  std::FILE* out_;
  long start_ = 0;
  bool good_ = false;
};

// Returns the exit status.
inline int write_image(const char* program, const std::string& file, const Image& image) {
  ImageFile out(file, image.rows, image.cols);
  for (int row = 0; row < image.rows; ++row)
    out.set_row(row, image.pixels.data() + static_cast<std::size_t>(row) * image.cols);
  if (out.close()) return 0;
  std::fprintf(stderr, "%s: cannot write %s: %s\n", program, file.c_str(), std::strerror(errno));
  return 1;
}

}  // namespace programs

#endif  // PROGRAMS_COMMON_IMAGE_HPP
