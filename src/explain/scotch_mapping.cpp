#include "explain/scotch_mapping.hpp"

// scotch.h wants FILE.
#include <cstdio>
// clang-format off
#include <scotch.h>
// clang-format on
#include <memory>
#include <numeric>

namespace foretrace::explain {
namespace {

// One thread and the same random numbers each time, so that the mapping is the same.
class Context {
 public:
  Context() {
    SCOTCH_contextInit(&context_);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    SCOTCH_contextThreadSpawn(&context_, 1, nullptr);
    SCOTCH_contextRandomClone(&context_);
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
  }
  ~Context() { SCOTCH_contextExit(&context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SCOTCH_Context* get() { return &context_; }

 private:
  SCOTCH_Context context_;
};

// A SCOTCH_Graph, with the arrays that it refers to.
class Graph {
 public:
  Graph(Context& context, const WeightedGraph& from)
      : first_(static_cast<std::size_t>(from.vertices) + 1) {
    for (const WeightedEdge& edge : from.edges) {
      ++first_[static_cast<std::size_t>(edge.a) + 1];
      ++first_[static_cast<std::size_t>(edge.b) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    ends_.resize(2 * from.edges.size());
    weights_.resize(ends_.size());
    std::vector<SCOTCH_Num> next = first_;
    const auto add = [&](int at, int to, SCOTCH_Num weight) {
      const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(at)]++);
      ends_[slot] = to;
      weights_[slot] = weight;
    };
    for (const WeightedEdge& edge : from.edges) {
      add(edge.a, edge.b, edge.weight);
      add(edge.b, edge.a, edge.weight);
    }
    SCOTCH_graphInit(&graph_);
    built_ = SCOTCH_graphBuild(&graph_, 0, from.vertices, first_.data(), nullptr, nullptr, nullptr,
                               static_cast<SCOTCH_Num>(ends_.size()), ends_.data(),
                               weights_.data()) == 0;
    SCOTCH_graphInit(&bound_);
    built_ = built_ && SCOTCH_contextBindGraph(context.get(), &graph_, &bound_) == 0;
  }
  ~Graph() {
    SCOTCH_graphExit(&bound_);
    SCOTCH_graphExit(&graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  bool built() const { return built_; }
  SCOTCH_Graph* get() { return &bound_; }

 private:
  SCOTCH_Graph graph_;
  SCOTCH_Graph bound_;  // with the context
  std::vector<SCOTCH_Num> first_;
  std::vector<SCOTCH_Num> ends_;
  std::vector<SCOTCH_Num> weights_;
  bool built_ = false;
};

class Strategy {
 public:
  Strategy() { SCOTCH_stratInit(&strategy_); }
  ~Strategy() { SCOTCH_stratExit(&strategy_); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

class Architecture {
 public:
  Architecture() { SCOTCH_archInit(&architecture_); }
  ~Architecture() { SCOTCH_archExit(&architecture_); }
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
  SCOTCH_Arch* get() { return &architecture_; }

 private:
  SCOTCH_Arch architecture_;
};

}  // namespace

std::optional<std::vector<int>> map_by_scotch(const WeightedGraph& source,
                                              const WeightedGraph& target, int places) {
  Context context;
  Graph ranks(context, source);
  Graph machine(context, target);
  Architecture architecture;
  Strategy splitting;
  Strategy mapping;
  std::vector<SCOTCH_Num> allowed(static_cast<std::size_t>(places));
  std::iota(allowed.begin(), allowed.end(), 0);
  std::vector<SCOTCH_Num> parts(static_cast<std::size_t>(source.vertices));
  constexpr double kUneven = 0.01;
  const bool done =
      ranks.built() && machine.built() &&
      SCOTCH_archBuild0(architecture.get(), machine.get(), places, allowed.data(),
                        splitting.get()) == 0 &&
      SCOTCH_stratGraphMapBuild(mapping.get(), SCOTCH_STRATQUALITY, places, kUneven) == 0 &&
      SCOTCH_graphMap(ranks.get(), architecture.get(), mapping.get(), parts.data()) == 0;
  if (!done) return std::nullopt;
  return std::vector<int>(parts.begin(), parts.end());
}

}  // namespace foretrace::explain
