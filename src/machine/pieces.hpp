// What MPI takes longer for data that does not lie together in memory: it puts the pieces together
// before they are sent, and takes them apart where they are received.
#pragma once

#include <map>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/size_times.hpp"

namespace foretrace::machine {

// By the bytes of a piece (above 0), what all pieces of so many bytes take together.
using PieceTimes = std::map<Bytes, std::vector<SizeTime>>;

struct Pieces {
  PieceTimes send;  // to put them together
  PieceTimes recv;  // to take them apart
  bool empty() const { return send.empty() && recv.empty(); }
};

// For `bytes` in pieces of `piece` bytes in the middle (0: they lie together, and take no time).
// Each piece takes what it does in a message of the nearest sizes that are known (time_at, but
// beyond the last size each byte takes what it does there); between two lengths of a piece it
// takes what lies between them by the logarithm of the length, below the first and beyond the last
// what a piece of that length does.
Time pieces_time(const PieceTimes& known, Bytes bytes, Bytes piece);

}  // namespace foretrace::machine
