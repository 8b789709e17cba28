#include "measure/experiments/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>

#include "measure/experiments/clock.hpp"

namespace foretrace::measure {
namespace {

// Elements of 8 bytes: three arrays of these fit the second cache, or no cache.
constexpr std::size_t kNear = std::size_t{1} << 12;
constexpr std::size_t kFar = std::size_t{1} << 20;
constexpr std::size_t kSide = 48;  // of a matrix

struct Data {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> c;
  std::vector<std::uint32_t> near;  // each entry names the next: one circle through all
  std::vector<std::uint32_t> far;
  std::vector<std::uint8_t> coins;
};

// A circle in random order (Sattolo), so that no prefetcher knows the next one.
std::vector<std::uint32_t> circle(std::size_t size, std::mt19937_64& random) {
  std::vector<std::uint32_t> next(size);
  std::iota(next.begin(), next.end(), 0U);
  for (std::size_t i = size - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  return next;
}

Data make_data() {
  std::mt19937_64 random(1);
  Data data;
  data.a.assign(kFar, 1);
  data.b.assign(kFar, 1.5);
  data.c.assign(kFar, 0.5);
  data.near = circle(2 * kNear, random);
  data.far = circle(4 * kFar, random);
  data.coins.resize(1 << 16);
  for (std::uint8_t& coin : data.coins) coin = static_cast<std::uint8_t>(random() & 1);
  return data;
}

// What is computed must not be left out.
template <class Value>
void keep(Value& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// Each does `times` operations, about, and returns how many it did.

double integers(Data&, double times) {
  const auto n = static_cast<std::uint64_t>(times);
  std::uint64_t x = 1;
  for (std::uint64_t i = 0; i < n; ++i) {
    x = (x ^ (x << 13)) + i;
    asm volatile("" : "+r"(x));
  }
  keep(x);
  return times;
}

double multiply_adds(Data& data, double times) {
  double done = 0;
  for (; done < times; done += 1024)
    for (std::size_t i = 0; i < 1024; ++i) {
      data.a[i] = data.a[i] * 0.999 + 0.5;
      asm volatile("" : : : "memory");
    }
  return done;
}

double triad(double* a, const double* b, const double* c, std::size_t size, double times) {
  double done = 0;
  for (; done < times; done += static_cast<double>(size)) {
    for (std::size_t i = 0; i < size; ++i) a[i] = b[i] + 0.25 * c[i];
    asm volatile("" : : : "memory");
  }
  return done;
}
double triad_near(Data& data, double times) {
  return triad(data.a.data(), data.b.data(), data.c.data(), kNear, times);
}
double triad_far(Data& data, double times) {
  return triad(data.a.data(), data.b.data(), data.c.data(), kFar, times);
}

double chase(const std::vector<std::uint32_t>& next, double times) {
  // Another part of the circle each time.
  static std::uint32_t begin = 0;
  std::uint32_t at = begin % static_cast<std::uint32_t>(next.size());
  const auto n = static_cast<std::uint64_t>(times);
  for (std::uint64_t i = 0; i < n; ++i) at = next[at];
  keep(at);
  begin = at;
  return times;
}
double chase_near(Data& data, double times) {
  return chase(data.near, times);
}
double chase_far(Data& data, double times) {
  return chase(data.far, times);
}

double branches(Data& data, double times) {
  double done = 0;
  std::uint64_t heads = 0;
  for (; done < times; done += static_cast<double>(data.coins.size()))
    for (const std::uint8_t coin : data.coins) {
      if (coin != 0) {
        ++heads;
        asm volatile("" : "+r"(heads));
      }
    }
  keep(heads);
  return done;
}

double square_roots(Data& data, double times) {
  double done = 0;
  for (; done < times; done += 1024)
    for (std::size_t i = 0; i < 1024; ++i) {
      data.a[i] = std::sqrt(data.a[i] + 2);
      asm volatile("" : : : "memory");
    }
  return done;
}

double exponentials(Data& data, double times) {
  double done = 0;
  for (; done < times; done += 1024)
    for (std::size_t i = 0; i < 1024; ++i) {
      data.a[i] = std::exp(-data.a[i]);
      asm volatile("" : : : "memory");
    }
  return done;
}

// Counted in multiplications and additions of a row by an element.
double matrix_products(Data& data, double times) {
  constexpr double kOne = static_cast<double>(kSide * kSide * kSide);
  double done = 0;
  for (; done < times; done += kOne) {
    double* const a = data.a.data();
    const double* const b = data.b.data();
    const double* const c = data.c.data();
    for (std::size_t i = 0; i < kSide; ++i)
      for (std::size_t k = 0; k < kSide; ++k) {
        const double factor = 1e-6 * b[i * kSide + k];
        for (std::size_t j = 0; j < kSide; ++j) a[i * kSide + j] += factor * c[k * kSide + j];
      }
    asm volatile("" : : : "memory");
  }
  return done;
}

// Nodes of a line each, in a circle through a power of two of them. Its order is
// that of a linear congruential generator: full period by Hull and Dobell, and
// quick to lay out in any amount of memory.
struct Node {
  std::uint64_t next;
  std::uint64_t rest[7];
};

void lay_out_circle(std::vector<Node>& nodes, std::uint64_t count) {
  constexpr std::uint64_t kFactor = 1664525;
  constexpr std::uint64_t kStep = 1013904223;
  for (std::uint64_t i = 0; i < count; ++i) nodes[i].next = (kFactor * i + kStep) & (count - 1);
}

// Goes on where it was left.
double chase_nodes(const std::vector<Node>& nodes, std::uint64_t& begin, double times) {
  const auto n = static_cast<std::uint64_t>(times);
  std::uint64_t at = begin;
  for (std::uint64_t i = 0; i < n; ++i) at = nodes[at].next;
  keep(at);
  begin = at;
  return times;
}

struct Kernel {
  std::string name;
  std::function<double(double times)> run;
};

const std::pair<const char*, double (*)(Data&, double)> kKernels[] = {
    {"integer", integers},        {"float", multiply_adds}, {"stream", triad_far},
    {"stream-cache", triad_near}, {"random", chase_far},    {"random-cache", chase_near},
    {"branch", branches},         {"sqrt", square_roots},   {"exp", exponentials},
    {"matrix", matrix_products},
};

constexpr double kBlock = 1e-3;  // seconds

// How many operations take about a block; they run in on the way.
double calibrate(const Kernel& kernel) {
  double times = 1000;
  for (;;) {
    const auto begin = now_ns();
    const double done = kernel.run(times);
    const double seconds = static_cast<double>(now_ns() - begin) * 1e-9;
    if (seconds > kBlock / 4) return std::max(1.0, done * kBlock / seconds);
    times = 4 * done;
  }
}

// How the blocks of all kernels are made, and where they go.
struct Series {
  int blocks;
  const Company& company;
  std::vector<KernelBlock> result;
};

void time_kernel(const Kernel& kernel, Series& series) {
  const double times = calibrate(kernel);
  for (int i = 0; i < series.blocks; ++i)
    for (const int count : series.company.counts) {
      const bool computes = series.company.begin(count);
      if (computes) {
        const long before = context_switches();
        const auto begin = now_ns();
        const double done = kernel.run(times);
        const auto end = now_ns();
        const double seconds = static_cast<double>(end - begin) * 1e-9 / done;
        series.result.push_back({kernel.name, count, {seconds, context_switches() == before}});
      }
      series.company.end(computes);
    }
}

void time_level(const KernelLevel& level, Series& series) {
  const std::size_t third = level.bytes / (3 * sizeof(double));
  {
    std::vector<double> a(third, 1);
    const std::vector<double> b(third, 1.5);
    const std::vector<double> c(third, 0.5);
    // A block need not be a whole pass.
    std::size_t at = 0;
    const std::size_t piece = std::min(third, std::size_t{1} << 14);
    time_kernel({"stream-" + level.name,
                 [&](double times) {
                   double done = 0;
                   for (; done < times; done += static_cast<double>(piece)) {
                     if (at + piece > third) at = 0;
                     triad(a.data() + at, b.data() + at, c.data() + at, piece, 1);
                     at += piece;
                   }
                   return done;
                 }},
                series);
  }
  std::vector<Node> nodes(std::bit_floor(level.bytes / sizeof(Node)));
  lay_out_circle(nodes, nodes.size());
  std::uint64_t at = 0;
  time_kernel({"random-" + level.name, [&](double times) { return chase_nodes(nodes, at, times); }},
              series);
}

}  // namespace

std::vector<KernelBlock> time_kernels(int blocks, const std::vector<KernelLevel>& levels,
                                      const Company& company) {
  Data data = make_data();
  Series series{blocks, company, {}};
  for (const auto& [name, run] : kKernels)
    time_kernel({name, [&data, run = run](double times) { return run(data, times); }}, series);
  for (const KernelLevel& level : levels) time_level(level, series);
  return std::move(series.result);
}

}  // namespace foretrace::measure
