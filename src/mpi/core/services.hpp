// Open ports and published names: one list that all ranks share, looked at and
// changed in the order of virtual time.
#pragma once

#include <optional>
#include <string>

namespace foretrace::mpi {

enum class ServiceKind : char { port = 'p', name = 'n' };

// False if it is there already.
bool add_service(ServiceKind kind, const std::string& name, const std::string& value);
std::optional<std::string> find_service(ServiceKind kind, const std::string& name);
// False if it is not there.
bool remove_service(ServiceKind kind, const std::string& name);

}  // namespace foretrace::mpi
