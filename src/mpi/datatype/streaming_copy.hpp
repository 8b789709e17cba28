// Copies of what travels between ranks, which stay out of the processor's caches if they are large:
// there they would take the place of the program's own data, which a rank under the real MPI keeps.
#pragma once

#include <cstdint>

namespace foretrace::mpi {

// As memcpy. `to` is not looked at by this rank soon.
void copy_out(void* to, const void* from, std::uint64_t bytes);
// As memcpy. `from` was written by copy_out, and is not looked at again.
void copy_in(void* to, const void* from, std::uint64_t bytes);

}  // namespace foretrace::mpi
