// Explanation: what limits a run, as plain results for the views.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explain/balance.hpp"
#include "explain/critical_path.hpp"
#include "explain/delays.hpp"
#include "explain/edits.hpp"
#include "explain/run.hpp"
#include "explain/sensitivity.hpp"
#include "explain/waits.hpp"
#include "sim/sink.hpp"
#include "sim/source.hpp"

namespace foretrace::explain {

// Where in the program, in words.
struct Place {
  std::string function;  // "MPI_Recv"
  std::string site;      // "halo.c:37"; empty: not known
  std::string phase;     // empty: none

  bool operator==(const Place&) const = default;
};

// A part of the critical path.
struct Share {
  Place place;  // of what by_place and by_phase group
  WorldRank rank;
  Parts parts;
};

// Where the critical path passes from rank to rank, by the calls at both ends.
struct Passage {
  Place from;
  Place to;
  std::uint64_t count = 0;
  Parts parts;
};

struct PathSummary {
  Parts parts;  // of the whole path; their sum is the run's time
  std::vector<Share> by_place;
  std::vector<Share> by_rank;
  std::vector<Share> by_phase;                         // place.phase alone
  std::vector<std::pair<std::string, Time>> by_state;  // COMPUTE and functions
  std::uint64_t messages = 0;                          // by which it passes from rank to rank
  std::vector<Passage> passages;                       // these messages, longest first
  // Of all calls: how many could be later by up to this share of the run without effect.
  struct Near {
    double share = 0;
    std::uint64_t calls = 0;
  };
  std::vector<Near> near;
  std::uint64_t calls = 0;
};

// Efficiencies as the POP project defines them (docs/explain.md has the formulas).
struct Efficiency {
  double parallel = 0;
  double load_balance = 0;
  double communication = 0;
  double serialisation = 0;
  double files = 1;
  double transfer = 0;
};

// The same of one phase, over the ranks that are in it.
struct PhaseEfficiency {
  std::string phase;  // empty: what lies in none
  int ranks = 0;
  Time time;      // the longest that a rank spends in it
  Time ideal;     // the same on an ideal network
  Time no_files;  // the same there, files taking no time
  Time compute;   // mean
  Efficiency efficiency;
};

// Run times, simulated afresh, with something made perfect.
struct Bounds {
  Time no_waits;
  Time balanced;
  Time ideal_network;
  Time zero_latency;
  Time infinite_bandwidth;
  Time half_compute;
  Time double_compute;
  Time balanced_ideal;                 // computation balanced, on an ideal network
  std::optional<Time> no_files;        // files take no time; nothing: the run has no files
  std::optional<Time> ideal_no_files;  // and on an ideal network
  // Messages move by themselves; nothing: they do so anyway.
  std::optional<Time> moving_always;
};

// Equal waits at one place.
struct WaitGroup {
  WaitKind kind = WaitKind::other;
  Place place;
  std::uint64_t count = 0;
  std::vector<WorldRank> ranks;  // that wait, ascending
  Time time;                     // of all
  Time longest;
  // Who was late, the most: where it called, and how much of the time is due to it.
  std::optional<Place> late;
  WorldRank late_rank;
  Time late_time;
  // Whose fault that was, the most, by find_delay_costs(): who did what too long.
  std::optional<Place> blamed;
  DelayKind blamed_kind = DelayKind::call;
  WorldRank blamed_rank;
  Time blamed_time;
};

struct Domino {
  WorldRank rank;
  Place place;
  bool waits = false;  // else: whom it waited for
  Time at;
  Time wait;
  Time time_without;  // run time if this wait alone were zero
};

// What a change takes.
enum class Effort : std::uint8_t {
  machine,  // another machine
  setting,  // no change of the program: how it is started
  calls,    // some MPI calls: when they are posted, what they wait for
  work,     // who computes what
};
std::string_view name_of(Effort effort);

// Something to change, and what it brings.
struct Finding {
  // "wait", "imbalance", "algorithm", "placement", "files", "faster link", "no barriers",
  // "merged messages", "posted messages"
  std::string kind;
  std::string change;                   // algorithm: which
  std::vector<std::string> processors;  // placement: by rank
  std::vector<std::string> link;        // faster link: from where to where, as most bytes went
  WaitKind wait_kind = WaitKind::other;
  Place place;
  std::vector<WorldRank> ranks;
  Time spent;              // waiting; or above the mean, whoever was; link: busy, that way
  Time gain;               // of run time
  Time predicted;          // run time then
  bool estimated = false;  // by ExplainOptions::estimate_waits, and not among the best
  bool verified = false;   // simulated afresh
  std::optional<Place> cause;
  WorldRank cause_rank;
  bool whole_phase = false;  // imbalance of all the phase; place: where the slowest computes most
  bool elsewhere = false;    // files, barriers: in other places, too
  Effort effort = Effort::work;
  // The gain is in proportion to what is changed up to this share of the change (of waits: each
  // is shorter by at most this share of the longest); beyond it another path through the run is
  // critical. Nothing: not known.
  std::optional<double> holds;
  Time gain_there;    // of run time, with that share
  double enough = 1;  // the share of the change that brings 99 % of what all of it brings
  std::string check;  // options of explain that simulate it alone; empty: there are none
  std::vector<std::string> notes;  // of that simulation, beside those of the run as it is
};

// One wait, taken away.
struct SingleWait {
  WorldRank rank;
  std::uint32_t operation = 0;  // event number on its rank, from 0
  WaitKind kind = WaitKind::other;
  Place place;
  Time at;  // when it began
  Time wait;
  Time time_without;
};

struct Region {
  Place place;  // computation before its calls; with a phase alone: of the phase
  bool phase = false;
  Time mean;
  Time most;
  WorldRank slowest;
  double deviation = 0;  // standard deviation over the ranks, seconds
  Time above;            // Unevenness
  Time balanced;         // run time with it equalised
  Time twice_as_fast;    // run time with it twice as fast on all ranks
  // Run times with it so many times as fast, by kSpeedUps of lanes.hpp; empty: not asked for.
  std::vector<Time> curve;
  bool curve_estimated = false;  // every message taking as long as it did
  std::size_t number = 0;        // in the order in which they were found
};

// Computation made even in more than one place, on nodes, and where it is uneven in time.
struct BalanceOfMore {
  // The places of Region that bring the most, the first two of them together, three, ...
  struct Together {
    std::vector<Place> places;
    Time time;  // run time
  };
  std::vector<Together> together;
  struct Nodes {
    std::size_t count = 0;
    Time mean;  // computation of a node, by the number of its ranks
    Time most;
    std::int32_t slowest = 0;
    double deviation = 0;  // standard deviation, seconds
    Time within;           // run time if the ranks of each node compute equally long
    Time between;          // if the nodes do, each by the number of its ranks
  };
  std::optional<Nodes> nodes;
  std::size_t rounds = 0;
  std::vector<Round> uneven_rounds;  // most uneven first
};

struct Explanation {
  Time time;
  int ranks = 0;
  std::uint64_t calls = 0;
  bool exact = false;  // every what-if follows from the graph
  PathSummary path;
  Efficiency efficiency;
  std::vector<PhaseEfficiency> phases;  // longest first
  DelayCosts delays;
  std::vector<Place> delay_places;  // beside delays.costs
  Bounds bounds;
  std::vector<WaitGroup> waits;     // longest first
  std::vector<SingleWait> longest;  // single waits
  std::vector<SingleWait> best;     // those whose absence shortens the run most
  std::vector<Domino> domino;
  std::vector<Region> regions;
  BalanceOfMore balance;
  std::vector<Finding> findings;  // best first
  std::vector<Sensitivity> sensitivity;
  std::vector<std::string> notes;  // what could not be analysed, and why
};

// The shortest run time that one kind of change promises; never longer than the run itself. What
// computes little by design (a manager) makes the run longer when all is balanced; then less of it
// is balanced.
struct Headline {
  Time communication;         // an ideal network
  std::optional<Time> files;  // they take no time; nothing: the run has none
  Time balance;               // all computation equalised, or that of one place
  Time both;                  // or one of them alone
  Time waits;                 // nobody waits
};
Headline headline_of(const Explanation& explanation);

// What network and files are like in a simulation of bounds.
enum class Ideal : std::uint8_t {
  as_is,
  no_latency,
  infinite_bandwidth,
  ideal,
  no_files,        // the network as it is
  ideal_no_files,  // both
  moving_always    // what waits for calls of its receiver (sim::Progress) does not
};

// Simulates the run afresh, edited. Every call stands for itself.
using Simulate = std::function<Time(const Edits&, Ideal, sim::Sink&)>;

struct ExplainOptions {
  std::size_t most_findings = 20;
  std::size_t most_places = 20;  // in each list
  bool verify = false;           // simulates the ten best findings
  // Messages get into each other's way, so that the graph does not tell what waits would
  // bring: it gives an estimate, every message taking as long as it did, and the best are
  // simulated.
  bool estimate_waits = false;
  bool moves_in_calls = false;  // messages, while their receivers are in MPI (sim::Progress)
  Groups nodes;                 // by rank; empty: nothing is known of them
};

// `source` tells names and places. Sensitivity is not filled in.
Explanation explain(const Run& run, const sim::Source& source, const Simulate& simulate,
                    const ExplainOptions& options);

}  // namespace foretrace::explain
