// Samples of a machine that is known: its equations, with noise.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// Sums of twelve uniform numbers: the same on every platform, normal enough.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  // 1 + a normal value of this standard deviation.
  double factor(double deviation) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_() >> 11) * 0x1p-53;
    return 1 + deviation * sum;
  }

 private:
  std::mt19937_64 random_;
};

struct Sampling {
  std::vector<int> ranks{2};
  std::vector<std::uint64_t> sizes;
  int launches = 5;
  double between_launches = 0.01;  // relative, of a launch as a whole
  double within_launch = 0.01;     // of each point
};

// Powers of two from 1 to `last` and two sizes between each and the next.
inline std::vector<std::uint64_t> sizes_to(std::uint64_t last) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 1; size <= last; size *= 2)
    for (const std::uint64_t each : {size, size * 5 / 4, size * 13 / 8})
      if (each <= last && (sizes.empty() || each > sizes.back())) sizes.push_back(each);
  return sizes;
}

// Adds samples of `seconds(p, d)`.
inline void sample(SampleSet& set, const std::string& function, const Sampling& how, Noise& noise,
                   const std::function<double(int, std::uint64_t)>& seconds) {
  for (int launch = 1; launch <= how.launches; ++launch) {
    const double level = noise.factor(how.between_launches);
    for (const int ranks : how.ranks)
      for (const std::uint64_t size : how.sizes)
        set.samples.push_back({function, ranks, size, launch,
                               seconds(ranks, size) * level * noise.factor(how.within_launch),
                               true});
  }
}

}  // namespace foretrace::measure
