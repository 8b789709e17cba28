// Semaphores of the program. Who has to wait at one goes on no earlier than where the one was that
// put it there (thread_waits.hpp). So does who comes so late here that it is there already.
//
// Interpreters make their locks of semaphores, and who takes a lock first is decided by this
// machine's cores: who would have come, on the rank's clock, before the other one took it does not
// go on later. But who was in MPI meanwhile does: there it waited really for longer than on the
// rank's clock, and is likely to find what the other one did under the lock.
#pragma once

#include <semaphore.h>

#include "base/thread_waits.hpp"

namespace foretrace::thread_waits {

// The calling thread takes it, if it is there.
bool take_if_there(sem_t* semaphore);
// It has waited for it.
void has_waited_for(sem_t* semaphore);

// `wait` returns 0 once the thread has it.
template <class Wait>
int take(sem_t* semaphore, Wait wait) {
  if (take_if_there(semaphore)) return 0;
  const int result = wait_at(semaphore, wait);
  if (result == 0) has_waited_for(semaphore);
  return result;
}

}  // namespace foretrace::thread_waits
