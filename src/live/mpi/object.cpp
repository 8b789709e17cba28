#include "live/mpi/object.hpp"

namespace foretrace::live {

void release(Object* object) {
  if (!object || object->predefined || --object->references > 0) return;
  forget_handle(*object);
  delete object;
}

}  // namespace foretrace::live
