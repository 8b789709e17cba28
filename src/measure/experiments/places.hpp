// Places: where messages and a library's own memory come to lie, drawn at random.
//
// A small message takes 10 to 20 % longer where it comes to lie across two lines
// of the cache, and a collective that takes memory for each call takes longer
// where the heap ends in the wrong place. Both depend on what the program did
// before, and would stay the same for a whole block or launch. Drawn anew they
// become part of the spread between blocks and launches.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/experiments/group.hpp"

namespace foretrace::measure {

// A few small messages of sizes drawn from `seed`, which is the same on all
// members, between ranks at distances that trees use. Collective over `group`.
void move_places(const Group& group, std::uint64_t seed);

// Takes up to 32 pages, a number drawn from `seed`, from the heap's end for as
// long as the result lives.
std::unique_ptr<char[]> take_some_heap(std::uint64_t seed);

// From now on the C library hands out memory as it does in a program that begins to send messages
// of so many bytes: it gives a library's temporary memory of that size back to the system after
// each call, and every page of it is made anew in the next. A process that has freed longer blocks,
// as this one has, keeps it, and a long MPI_Reduce under MPICH then takes half as long.
void begin_heap_anew(std::uint64_t bytes);

}  // namespace foretrace::measure
