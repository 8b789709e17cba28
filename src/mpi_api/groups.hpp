// What kind of function an MPI function is, by the groups of groups.txt. Names are
// those of traces and headers ("MPI_Ibcast"); no MPI header is needed.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

namespace foretrace::mpi_api {

// A name, or one with * (any text) and [ab] (one of these) in it.
struct Pattern {
  constexpr Pattern(const char* its_text)
      : text(its_text), is_name(text.find_first_of("*[") == std::string_view::npos) {}

  std::string_view text;
  bool is_name;
};

struct Group {
  std::string_view name;
  std::span<const Pattern> patterns;
};

// In the table's order.
std::span<const Group> groups();
// nullptr if there is none of that name.
const Group* find_group(std::string_view name);

// Whether the function, or what it is the large-count form of, is in the group.
bool is_in(const Group& group, std::string_view function);
// Whether it is in one of the groups of these names, all of which there must be.
bool is_in_any(std::string_view function, std::initializer_list<std::string_view> groups);

// A call that looks whether something has happened, and returns either way.
bool is_poll(std::string_view function);

// A call that takes of several requests those that are complete first.
bool chooses(std::string_view function);

// Whether MPIs that move messages only inside of calls do so in this one: it looks for what has
// come, or waits. Of messages and collectives a trace tells more than their names.
bool moves_messages(std::string_view function);

}  // namespace foretrace::mpi_api
