#include <array>
#include <string_view>

#include "analysis/call_profile.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::analysis {

using mpi_api::is_in_any;

const char* name_of(CallClass of) {
  static constexpr std::array<const char*, static_cast<std::size_t>(CallClass::kCount)> kNames{
      "sending", "receiving", "completing", "polling", "collective", "one-sided", "files", "other"};
  return kNames[static_cast<std::size_t>(of)];
}

bool may_wait(CallClass of) {
  return of == CallClass::receive || of == CallClass::complete || of == CallClass::collective;
}

CallClass class_of(const std::string& function) {
  if (is_in_any(function, {"io"})) return CallClass::file;
  if (is_in_any(function, {"one_sided"})) return CallClass::one_sided;
  if (is_in_any(function, {"polls"})) return CallClass::poll;
  if (is_in_any(function, {"waits"})) return CallClass::complete;
  if (is_in_any(function, {"collectives", "comm_meetings"})) return CallClass::collective;
  // Posting a receive waits for nobody, as sending does not.
  const bool posts = is_in_any(function, {"nonblocking", "starts"});
  if (is_in_any(function, {"receives", "probes"}) && !posts) return CallClass::receive;
  if (is_in_any(function, {"sends", "receives"}) || posts) return CallClass::send;
  return CallClass::other;
}

bool all_wait_for_all(const std::string& function) {
  return is_in_any(function, {"all_for_all"});
}

}  // namespace foretrace::analysis
