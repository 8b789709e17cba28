#include "capture/predict/caller.hpp"

#include <unistd.h>

#include "capture/session/start_up.hpp"

namespace foretrace::capture {

// Between two groups the members of one name each other's root, or none.
Caller Caller::of(const CommInfo& comm, Fn fn, int root) {
  return {comm.member(comm.rank.value).value, static_cast<std::uint32_t>(fn),
          comm.is_inter() ? -1 : root};
}

std::string_view Caller::name() const {
  std::string_view text = name_of(static_cast<Fn>(function));
  if (text.ends_with("_c")) text.remove_suffix(2);
  return text;
}

std::string Caller::text() const {
  const std::string calls = "rank " + std::to_string(rank) + " calls " + std::string(name());
  return root < 0 ? calls : calls + " (root " + std::to_string(root) + ")";
}

void check_same(const Caller& own, const Caller& other) {
  const bool same = own.function == other.function || own.name() == other.name();
  if (same && own.root == other.root) return;
  // Both may see it: one sentence is enough.
  if (own.rank > other.rank) sleep(1);
  const Caller& first = own.rank < other.rank ? own : other;
  const Caller& second = own.rank < other.rank ? other : own;
  say(first.text() + ", but " + second.text() +
      " in the same place among the collectives of a communicator");
  end_program();
}

}  // namespace foretrace::capture
