#include "sim/new_operation.hpp"

namespace foretrace::sim {

constinit const Operation kNewOperation;

}  // namespace foretrace::sim
