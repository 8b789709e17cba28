// What the program and its libraries import. Knows nothing of MPI.
#pragma once

namespace foretrace::capture {

// True if some loaded object other than the MPI library refers to a
// synchronous send: then messages may be rendezvous whatever their size.
bool program_imports_synchronous_sends();

}  // namespace foretrace::capture
