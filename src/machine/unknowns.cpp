// What a run has asked for that the machine model does not know.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

constexpr std::size_t place_of(Cost cost) {
  return static_cast<std::size_t>(cost);
}

// Of a model that has not even sum_double.
constexpr const char* kCombinesForFree = " (takes no time)";

}  // namespace

// Parts of a transfer (isend2, irecv1, what overlaps) may well be missing: others hold their time.
Timing::Unknowns Timing::unknowns() const {
  constexpr std::array kWhole = {Cost::send, Cost::ssend,  Cost::bsend,  Cost::rsend,
                                 Cost::recv, Cost::isend1, Cost::irecv2, Cost::sendrecv};
  Unknowns unknowns;
  const auto tell_unreliable = [&unknowns](const Function& function) {
    const std::string text = function.name + " (" + why_unreliable(function) + ")";
    if (std::ranges::find(unknowns.unreliable, text) == unknowns.unreliable.end())
      unknowns.unreliable.push_back(text);
  };
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const int ranks = most_ranks_[i];
    const bool whole = (i >= place_of(Cost::barrier) && i != place_of(Cost::gap)) ||
                       std::ranges::find(kWhole, static_cast<Cost>(i)) != kWhole.end();
    const Function* function = functions_[i];
    // What is not whole, or stands in, is told by its own name, once.
    if (ranks != 0 && function && is_unreliable(*function)) tell_unreliable(*function);
    const std::string name(name_of(static_cast<Cost>(i)));
    if (ranks != 0 && function && function->name != name)
      if (const Function* own = model_->find(name))
        unknowns.replaced.push_back(name + " (" + why_unreliable(*own) + ") by " + function->name);
    if (ranks == 0 || !whole) continue;
    if (!function) {
      unknowns.missing.push_back(name);
      continue;
    }
    const Bytes bytes = most_bytes_[i];
    const bool is_beyond = ranks > 1 && beyond_measured(*model_, *function, ranks, bytes).ranks;
    if (is_beyond)
      unknowns.beyond.push_back(name + " with " + std::to_string(ranks) + " ranks" +
                                (took_nothing_[i] ? " (not above 0 there: taken as 0)" : ""));
    // A barrier has no size; those of files' calls have that of the call.
    const bool sized = static_cast<Cost>(i) != Cost::barrier;
    if (sized && function->measured && bytes > function->measured->to)
      unknowns.beyond.push_back(name + " of " + std::to_string(bytes.count) + " B");
    if (const std::optional<Bytes>& below = below_zero_[i]; below && !is_beyond)
      unknowns.below_zero.push_back(
          name + (sized ? " of " + std::to_string(below->count) + " B" : std::string()));
  }
  constexpr std::array kSends = {Cost::send,   Cost::ssend,    Cost::bsend, Cost::rsend,
                                 Cost::isend1, Cost::sendrecv, Cost::recv};
  const bool sent =
      std::ranges::any_of(kSends, [&](Cost cost) { return most_ranks_[place_of(cost)] != 0; });
  const auto tell_without = [&](Cost part, bool asked, const char* instead) {
    const Function* own = model_->find(name_of(part));
    if (own && asked && !functions_[place_of(part)])
      unknowns.replaced.push_back(own->name + " (" + why_unreliable(*own) + ") by none, so " +
                                  instead);
  };
  tell_without(Cost::gap, sent, "messages of a rank pass each other");
  tell_without(Cost::irecvoverlap, most_ranks_[place_of(Cost::irecv2)] != 0,
               "a posted receive completes in recvmin or irecv2 at the least");
  for (const Function* function : beside_) tell_unreliable(*function);
  // Which of them was first is another one in each way to a prediction.
  const auto moves = static_cast<std::ptrdiff_t>(unknowns.missing.size());
  unknowns.missing.insert(unknowns.missing.end(), missing_moves_.begin(), missing_moves_.end());
  std::ranges::sort(unknowns.missing.begin() + moves, unknowns.missing.end());
  unknowns.pieces = lacks_pieces_;
  unknowns.posted = posted_;
  std::ranges::sort(unknowns.posted);
  for (std::size_t i = 0; i < stood_in_.size(); ++i)
    if (stood_in_[i])
      unknowns.combined.push_back(name_of(static_cast<Reduction>(i)) +
                                  (stands_in_[i] ? "" : kCombinesForFree));
  for (const Path path : {Path::node, Path::untouched}) {
    if (!inner_[static_cast<std::size_t>(path)]) continue;
    // Untouched data has the node's functions.
    const bool node = inner_[static_cast<std::size_t>(Path::node)] != nullptr;
    const std::string where = node ? " (path " + std::string(name_of(Path::node)) + ")" : "";
    const auto add = [&where](const std::vector<std::string>& own, std::vector<std::string>& all) {
      for (const std::string& what : own)
        if (std::ranges::find(all, what + where) == all.end()) all.push_back(what + where);
    };
    const Unknowns inner = on(path).unknowns();
    add(inner.missing, unknowns.missing);
    add(inner.beyond, unknowns.beyond);
    add(inner.below_zero, unknowns.below_zero);
    add(inner.replaced, unknowns.replaced);
    add(inner.unreliable, unknowns.unreliable);
    unknowns.pieces = unknowns.pieces || inner.pieces;
  }
  return unknowns;
}

std::vector<std::string> notes_of(const Timing::Unknowns& unknowns) {
  const auto line = [](const std::string& what, const std::vector<std::string>& names) {
    std::string text = what;
    for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
    return text;
  };
  std::vector<std::string> notes;
  if (!unknowns.missing.empty()) notes.push_back(line(kTakesNoTime, unknowns.missing));
  if (unknowns.pieces)
    notes.push_back(
        "data that does not lie together in memory (MPI_Type_vector, subarrays and the like) takes "
        "no longer than other data, for want of [pieces] in the machine model: MPI takes time to "
        "put it together");
  if (!unknowns.posted.empty())
    notes.push_back(
        line("work on files is done in the call that begins it, and none of it beside what "
             "follows: ",
             unknowns.posted));
  if (!unknowns.beyond.empty())
    notes.push_back(line("extrapolated, beyond what was measured: ", unknowns.beyond));
  if (!unknowns.below_zero.empty())
    notes.push_back(
        line("below zero by the machine model's equations, and taken as 0: ", unknowns.below_zero));
  if (!unknowns.replaced.empty())
    notes.push_back(line("INVALID in the machine model, and replaced: ", unknowns.replaced));
  if (!unknowns.combined.empty()) {
    const bool free = unknowns.combined.front().ends_with(kCombinesForFree);
    notes.push_back(line(free ? "reductions that the machine model lacks: "
                              : "reductions that the machine model lacks, taken as sum_double: ",
                         unknowns.combined));
  }
  return notes;
}

}  // namespace foretrace::machine
