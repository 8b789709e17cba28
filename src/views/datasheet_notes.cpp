#include "views/datasheet_notes.hpp"

#include <utility>

namespace foretrace::views {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr Row kMeanings[] = {
    {"send", "Time in MPI_Send when the receive starts together with it."},
    {"ssend", "Time in MPI_Ssend when the receive starts together with it."},
    {"rsend", "Time in MPI_Rsend, its receive already posted."},
    {"bsend", "Time in MPI_Bsend."},
    {"recv", "Time in MPI_Recv when the send starts together with it."},
    {"recvmin", "Time in MPI_Recv when the message is there already: the least that it takes."},
    {"isend1", "Time in MPI_Isend: posting a send."},
    {"isend2", "Time in the MPI_Wait right after MPI_Isend, both sides posting together."},
    {"isendoverlap",
     "Time from MPI_Isend's return until the send is complete: computing can fill it without "
     "making "
     "the send longer than isend1 + isend2."},
    {"irecv1", "Time in MPI_Irecv: posting a receive."},
    {"irecv2", "Time in the MPI_Wait right after MPI_Irecv, both sides posting together."},
    {"irecvoverlap",
     "Time from MPI_Irecv's return until the receive is complete: computing can fill it without "
     "making the receive longer than irecv1 + irecv2."},
    {"sendrecv", "Time in MPI_Sendrecv, both directions at once."},
    {"pingpong", "A message there and back, with MPI_Send and MPI_Recv."},
    {"allsend", "Half of the ranks send to the other half at the same time."},
    {"barrier", "From the common start until the last rank leaves MPI_Barrier."},
    {"bcast", "From the common start until the last rank has the root's data."},
    {"scatter", "From the common start until the last rank leaves; d is what one rank gets."},
    {"gather", "From the common start until the last rank leaves; d is what one rank gives."},
    {"allgather", "From the common start until the last rank leaves; d is what one rank gives."},
    {"alltoall", "From the common start until the last rank leaves; d is what goes to one rank."},
    {"reduce", "From the common start until the last rank leaves; d is one rank's vector."},
    {"allreduce", "From the common start until the last rank leaves; d is one rank's vector."},
    {"scan", "From the common start until the last rank leaves; d is one rank's vector."},
    {"comm_dup", "From the common start until the last rank leaves MPI_Comm_dup."},
    {"comm_split", "From the common start until the last rank leaves MPI_Comm_split."},
};

}  // namespace

std::string_view meaning_of(std::string_view function) {
  for (const auto& [name, text] : kMeanings)
    if (name == function) return text;
  return "";
}

std::vector<std::string_view> notes_on_use() {
  return {
      "All times are those that a process sees between calling an MPI function and its return. For "
      "collective functions all ranks start together, and the time ends when the last one leaves. "
      "When ranks do not come together, the early ones also wait for the late ones.",
      "t(p, d) = c + s × f(p) + k × g(p, d): p is the number of ranks in the communicator, d the "
      "count in the call, in the unit given under Run parameters. Every logarithm is natural. A "
      "time that comes out below zero is taken as zero. Sizes outside all intervals take the "
      "nearest interval's equation.",
      "Minimum and maximum take every coefficient one standard error lower and higher. They are a "
      "rough guide: measured times are not normally distributed.",
      "Q is the probability that a right equation would fit this badly by chance: near 1 is good, "
      "near 0 means that the equation leaves out something that the measurement saw. The residual "
      "is the root mean square of what the fit leaves.",
  };
}

}  // namespace foretrace::views
