// Python's lock of its interpreter. A thread gives it away while it computes or waits outside of
// Python, and takes it again.
//
// Conditions tell of it, but it is a lock: who would have taken it on the rank's clock before the
// one that has it here does not wait for that one.
//
// CPython (3.2 and later, ceval_gil.h) keeps two conditions in its own memory, _PyRuntime, with a
// mutex between them. Who gives the lock away signals the first one, at which the others wait; who
// takes it signals the second one.
#pragma once

namespace foretrace::interpreter_lock {

// Looks for an interpreter, where libraries may be looked into: not where another thread may be
// loading one, and wait for this one.
void find();
// The calling thread signals a condition: whether it says by that that it has taken the lock, as
// far as is known.
bool is_taken_by(const void* condition);
// Whether `condition` is the one at which threads wait for the lock, as far as is known.
bool is_waited_for_at(const void* condition);

}  // namespace foretrace::interpreter_lock
