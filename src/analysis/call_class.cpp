#include <array>
#include <string_view>

#include "analysis/call_profile.hpp"

namespace foretrace::analysis {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

}  // namespace

const char* name_of(CallClass of) {
  static constexpr std::array<const char*, static_cast<std::size_t>(CallClass::kCount)> kNames{
      "sending", "receiving", "completing", "polling", "collective", "one-sided", "files", "other"};
  return kNames[static_cast<std::size_t>(of)];
}

bool may_wait(CallClass of) {
  return of == CallClass::receive || of == CallClass::complete || of == CallClass::collective;
}

CallClass class_of(const std::string& function) {
  std::string_view name = function;
  if (name.substr(0, 4) != "MPI_") return CallClass::other;
  name.remove_prefix(4);
  if (name.size() > 2 && name.substr(name.size() - 2) == "_c") name.remove_suffix(2);
  const auto begins = [&](std::string_view with) { return name.substr(0, with.size()) == with; };
  if (begins("File_")) return CallClass::file;
  if (begins("Win_") ||
      is_one_of(name, {"Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op",
                       "Compare_and_swap", "Rput", "Rget", "Raccumulate", "Rget_accumulate"}))
    return CallClass::one_sided;
  if (begins("Test") && name != "Test_cancelled") return CallClass::poll;
  if (is_one_of(name, {"Iprobe", "Improbe", "Request_get_status", "Parrived"}))
    return CallClass::poll;
  if (begins("Wait")) return CallClass::complete;
  if (is_one_of(name, {"Recv", "Mrecv", "Probe", "Mprobe", "Sendrecv", "Sendrecv_replace"}))
    return CallClass::receive;
  if (is_one_of(name, {"Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend",
                       "Irecv", "Imrecv", "Isendrecv", "Isendrecv_replace", "Start", "Startall",
                       "Pready", "Pready_range", "Pready_list"}))
    return CallClass::send;
  if (begins("Neighbor_")) return CallClass::collective;
  if (is_one_of(name, {"Barrier",
                       "Bcast",
                       "Reduce",
                       "Allreduce",
                       "Scan",
                       "Exscan",
                       "Gather",
                       "Gatherv",
                       "Scatter",
                       "Scatterv",
                       "Allgather",
                       "Allgatherv",
                       "Alltoall",
                       "Alltoallv",
                       "Alltoallw",
                       "Reduce_scatter",
                       "Reduce_scatter_block",
                       "Comm_dup",
                       "Comm_dup_with_info",
                       "Comm_split",
                       "Comm_split_type",
                       "Comm_create",
                       "Comm_create_group",
                       "Cart_create",
                       "Graph_create",
                       "Dist_graph_create",
                       "Dist_graph_create_adjacent",
                       "Cart_sub",
                       "Intercomm_create",
                       "Intercomm_merge",
                       "Comm_free",
                       "Comm_disconnect"}))
    return CallClass::collective;
  return CallClass::other;
}

}  // namespace foretrace::analysis
