// Partitioned messages: by which tag a request's messages go where they meet no others.
#pragma once

namespace foretrace::mpi_api {

// Of several requests with the same partner and tag the first that was made meets the first, and so
// on, whichever start first (MPI 4.0, section 4.2.1): `number`, how many there were before, is part
// of the tag, modulo a thousand. There is no room for it beside tags of more than 20 bits; those
// meet in the order in which they start.
inline int partitioned_tag(int tag, int number) {
  constexpr int kTags = 1 << 20;
  constexpr int kChannels = 1 << 10;
  if (tag < 0) return tag;  // MPI_ANY_TAG: the first
  return tag < kTags ? tag + kTags * (number % kChannels) : ~tag;
}

}  // namespace foretrace::mpi_api
