#include "mpi_api/function_class.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "mpi_api/groups.hpp"

namespace foretrace::mpi_api {
namespace {

// Parts of MPI's functions, or several of them: none is one of MPI's.
constexpr std::array<std::string_view, 6> kOfMessages{"pingpong",  "gap",        "send_start",
                                                      "send_wait", "recv_start", "recv_wait"};

// "irecv2" is measured of MPI_Irecv, "barrier_halves_random" of MPI_Barrier.
std::string_view without_suffix(std::string_view function) {
  const std::size_t halves = function.find("_halves_");
  if (halves != std::string_view::npos) function = function.substr(0, halves);
  for (const std::string_view suffix : {"_root", "overlap", "min", "1", "2"})
    if (function.ends_with(suffix)) return function.substr(0, function.size() - suffix.size());
  return function;
}

std::string mpi_name(std::string_view function) {
  std::string name = "MPI_" + std::string(function);
  char& first = name[4];
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  return name;
}

}  // namespace

std::string_view function_class_of(std::string_view function) {
  if (std::ranges::find(kOfMessages, function) != kOfMessages.end()) return "point-to-point";
  const std::string name = mpi_name(without_suffix(function));
  const auto is = [&name](const char* group) { return is_in_any(name, {group}); };
  if (is("io")) return "file";
  if (name.starts_with("MPI_Win_") && !is("epochs")) return "barrier";
  if (is("one_sided")) return "one-sided";
  if (is("sends") || is("receives")) return "point-to-point";
  if (is("barriers") || is("comm_meetings")) return "barrier";
  if (is("collectives")) return "collective";
  if (is("polls") || is("datatypes") || is("groups") || is("local")) return "local";
  return {};
}

}  // namespace foretrace::mpi_api
