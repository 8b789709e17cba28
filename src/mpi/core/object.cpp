#include "mpi/core/object.hpp"

namespace foretrace::mpi {

void release(Object* object) {
  if (!object || object->predefined || --object->references > 0) return;
  forget_handle(*object);
  delete object;
}

}  // namespace foretrace::mpi
