#include "measure/core/functions.hpp"

#include <algorithm>
#include <array>

namespace foretrace::measure {
namespace {

constexpr std::string_view kPair = "point-to-point";
constexpr std::string_view kCollective = "collective";
constexpr std::string_view kBarrier = "barrier";
constexpr std::string_view kOneSided = "one-sided";
constexpr std::string_view kFile = "file";
constexpr std::string_view kLocal = "local";

constexpr std::string_view kMessage = "the message";
constexpr std::string_view kEachRank = "one rank's part";
constexpr std::string_view kVector = "the whole vector";

struct Row {
  std::string_view name;
  std::string_view function_class;
  std::string_view bytes;
  std::string_view meaning;
};

constexpr Row kTwoRanks[] = {
    {"send", kPair, kMessage, "Time in MPI_Send when the receive starts together with it."},
    {"ssend", kPair, kMessage, "Time in MPI_Ssend when the receive starts together with it."},
    {"rsend", kPair, kMessage, "Time in MPI_Rsend, its receive already posted."},
    {"bsend", kPair, kMessage, "Time in MPI_Bsend, the buffer attached before."},
    {"recv", kPair, kMessage, "Time in MPI_Recv when the send starts together with it."},
    {"recvmin", kPair, kMessage,
     "Time in MPI_Recv when the message is there already: the least that it takes."},
    {"isend1", kPair, kMessage, "Time in MPI_Isend: posting a send."},
    {"isend2", kPair, kMessage,
     "Time in the MPI_Wait right after MPI_Isend, both sides posting together."},
    {"isendoverlap", kPair, kMessage,
     "Time from MPI_Isend's return until the send is complete, found by polling MPI_Test: "
     "computing "
     "can fill it without making the send longer than isend1 + isend2."},
    {"irecv1", kPair, kMessage, "Time in MPI_Irecv: posting a receive."},
    {"irecv2", kPair, kMessage,
     "Time in the MPI_Wait right after MPI_Irecv, both sides posting together."},
    {"irecvoverlap", kPair, kMessage,
     "Time from MPI_Irecv's return until the receive is complete, found by polling MPI_Test: "
     "computing can fill it without making the receive longer than irecv1 + irecv2."},
    {"sendrecv", kPair, kMessage,
     "Time in MPI_Sendrecv, both directions at once, until the later of the two is done."},
    {"pingpong", kPair, kMessage, "A message there and back, with MPI_Send and MPI_Recv."},
    {"send_start", kPair, kMessage, "Time in MPI_Start of a persistent send."},
    {"send_wait", kPair, kMessage, "Time in the MPI_Wait right after send_start."},
    {"recv_start", kPair, kMessage, "Time in MPI_Start of a persistent receive."},
    {"recv_wait", kPair, kMessage, "Time in the MPI_Wait right after recv_start."},
    {"gap", kPair, kMessage,
     "Time for each message of a long row of MPI_Send until all have arrived, all receives "
     "posted."},
    {"put", kOneSided, kMessage,
     "MPI_Put and the MPI_Win_flush that completes it, the window open to all, its target waiting "
     "in "
     "MPI."},
    {"get", kOneSided, kMessage, "MPI_Get and MPI_Win_flush, as put."},
    {"accumulate", kOneSided, kMessage,
     "MPI_Accumulate of a sum of doubles and MPI_Win_flush, as put."},
};

constexpr Row kContention[] = {
    {"allsend", kCollective, kMessage,
     "Half of the p ranks send to a random permutation of the other half at the same time; until "
     "the "
     "last MPI_Send is done."},
    {"exchange_ring", kCollective, kMessage,
     "All p ranks exchange a message with both neighbours on a ring: MPI_Irecv, MPI_Isend, "
     "MPI_Waitall; until the last one is done."},
    {"exchange_mesh", kCollective, kMessage,
     "As exchange_ring, with up to four neighbours on an open mesh as MPI_Dims_create shapes it."},
};

// Collectives in their blocking form, those that have a root first.
struct Collective {
  std::string_view name;
  std::string_view bytes;
  bool rooted;
};
constexpr Collective kCollectives[] = {
    {"bcast", "the message", true},
    {"scatter", kEachRank, true},
    {"scatterv", kEachRank, true},
    {"gather", kEachRank, true},
    {"gatherv", kEachRank, true},
    {"reduce", kVector, true},
    {"allgather", kEachRank, false},
    {"allgatherv", kEachRank, false},
    {"alltoall", "what goes from one rank to one", false},
    {"alltoallv", "what goes from one rank to one", false},
    {"allreduce", kVector, false},
    {"reduce_scatter", kVector, false},
    {"reduce_scatter_block", kVector, false},
    {"scan", kVector, false},
    {"exscan", kVector, false},
    {"barrier", "", false},
};

constexpr Row kRanksAlone[] = {
    {"comm_dup", kBarrier, "", "From the common start until the last rank leaves MPI_Comm_dup."},
    {"comm_free", kBarrier, "",
     "Until the last rank leaves MPI_Comm_free of what MPI_Comm_dup made right before."},
    {"comm_split", kBarrier, "",
     "From the common start until the last rank leaves MPI_Comm_split, into two halves."},
    {"win_fence", kBarrier, "",
     "From the common start until the last rank leaves MPI_Win_fence, nothing transferred."},
    {"file_open", kFile, "",
     "From the common start until the last rank leaves MPI_File_open of a file that is there."},
    {"file_close", kFile, "", "Until the last rank leaves MPI_File_close, right after file_open."},
};

constexpr Row kLocalCalls[] = {
    {"test", kLocal, "", "Time in MPI_Test of a receive for which there is no message."},
    {"iprobe", kLocal, "", "Time in MPI_Iprobe that finds no message."},
    {"type_contiguous", kLocal, "", "Time in MPI_Type_contiguous, of 8 doubles."},
    {"type_vector", kLocal, "", "Time in MPI_Type_vector, of 8 doubles."},
    {"type_create_struct", kLocal, "", "Time in MPI_Type_create_struct, of three members."},
    {"type_commit", kLocal, "", "Time in MPI_Type_commit of such a vector."},
    {"type_free", kLocal, "", "Time in MPI_Type_free of such a vector, committed."},
    {"op_create", kLocal, "", "Time in MPI_Op_create."},
    {"op_free", kLocal, "", "Time in MPI_Op_free."},
    {"comm_group", kLocal, "", "Time in MPI_Comm_group of MPI_COMM_WORLD."},
    {"group_free", kLocal, "", "Time in MPI_Group_free of it."},
};

constexpr Row kFiles[] = {
    {"file_write_at", kFile, kEachRank,
     "All p ranks write to places of their own at the same time; until the last one leaves "
     "MPI_File_write_at."},
    {"file_write_at_all", kFile, kEachRank,
     "As file_write_at, in the collective MPI_File_write_at_all."},
    {"file_read_at", kFile, kEachRank,
     "All p ranks read from places of their own at the same time; until the last one leaves "
     "MPI_File_read_at."},
    {"file_read_at_all", kFile, kEachRank,
     "As file_read_at, in the collective MPI_File_read_at_all."},
};

constexpr std::array<std::string_view, 4> kInHalves{"barrier", "bcast", "allreduce", "alltoall"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kHalvings{{
    {"block", "the lower half of the ranks and the upper"},
    {"alternate", "the even ranks and the odd"},
    {"random", "a random half and the rest"},
}};

std::string mpi_name(std::string_view name, bool posted) {
  std::string text(name);
  if (posted) return "MPI_I" + text;
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return "MPI_" + text;
}

std::vector<FunctionFacts> make_table() {
  std::vector<FunctionFacts> all;
  const auto add = [&](const auto& rows) {
    for (const Row& row : rows)
      all.push_back(
          {std::string(row.name), row.function_class, row.bytes, std::string(row.meaning)});
  };
  add(kTwoRanks);
  add(kContention);
  const auto class_of = [](const Collective& c) {
    return c.bytes.empty() ? kBarrier : kCollective;
  };
  for (const Collective& c : kCollectives)
    all.push_back(
        {std::string(c.name), class_of(c), c.bytes,
         "From the common start until the last rank leaves " + mpi_name(c.name, false) + "."});
  for (const Collective& c : kCollectives)
    if (c.rooted)
      all.push_back({std::string(c.name) + "_root", kCollective, c.bytes,
                     "Time of the root alone in " + mpi_name(c.name, false) +
                         ", all ranks starting together."});
  add(kRanksAlone);
  for (const Collective& c : kCollectives) {
    const std::string call = mpi_name(c.name, true);
    const std::string name = "i" + std::string(c.name);
    all.push_back(
        {name + "1", class_of(c), c.bytes, "Until the last rank leaves " + call + ": posting it."});
    all.push_back({name + "2", class_of(c), c.bytes,
                   "Until the last rank leaves the MPI_Wait right after " + call + "."});
    all.push_back(
        {name + "overlap", class_of(c), c.bytes,
         "Time from " + call +
             "'s return until it is complete on the last rank, found by polling MPI_Test: "
             "computing can fill it."});
  }
  for (const std::string_view name : kInHalves)
    for (const auto& [halving, which] : kHalvings) {
      const auto found = std::ranges::find(kCollectives, name, &Collective::name);
      all.push_back(
          {std::string(name) + "_halves_" + std::string(halving), class_of(*found), found->bytes,
           "Two " + mpi_name(name, false) + " at the same time, of " + std::string(which) +
               ", until the last rank of both leaves; p counts the ranks of both."});
    }
  add(kFiles);
  add(kLocalCalls);
  return all;
}

}  // namespace

const std::vector<FunctionFacts>& measured_functions() {
  static const std::vector<FunctionFacts> kTable = make_table();
  return kTable;
}

const FunctionFacts* facts_of(std::string_view name) {
  const auto& all = measured_functions();
  const auto found = std::ranges::find(all, name, &FunctionFacts::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace foretrace::measure
