// Accesses to windows that have been called, and whose data has not moved yet.
//
// Where several ranks may access a target's memory at once, what they find there must follow from
// virtual time. MPI lets an access take effect until it is waited for. So its data moves at the
// beginning of the next call that is no access, when the rank has its turn: one turn for all.
#pragma once

#include <functional>
#include <initializer_list>

#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/win.hpp"

namespace foretrace::mpi {

// `move` returns an error code of the window; `types` are kept for it.
void put_off(Win& win, std::function<int()> move, std::initializer_list<Datatype*> types);
// It is the rank's turn from now to its next posting: moves all, in the order in which they were
// called.
void take_turn();
// The first error since it was asked for.
int take_access_error(Win& win);

}  // namespace foretrace::mpi
