// What threads that wait in the library tell each other (the rest: rank.hpp).
#pragma once

namespace foretrace::live {

// Lets other threads in until one of them calls tell_news(); both from inside the
// library. May return before, where the caller entered when there was no other thread.
void sleep_until_news();
// Lets in those that are at the door by now, and keeps the core (a thread of the program
// that spins would use it up): between two questions to the simulator, which sleep anyway.
void step_aside();
void tell_news();

}  // namespace foretrace::live
