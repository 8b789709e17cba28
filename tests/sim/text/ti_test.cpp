// SimGrid's time-independent traces: operations that come out, and errors.
#include <filesystem>
#include <fstream>

#include "sim/text/ti_source.hpp"
#include "text_programs.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> ti_operations(const std::string& text, int rank,
                                       const TiOptions& options = {}, const Choose& choose = {}) {
  TiSource source(parse_ti(text, "x.txt", options));
  return operations(source, rank, choose);
}

std::string ti_error(const std::string& text) {
  return error_of([&] { parse_ti(text, "x.txt", {}); });
}

// As SimGrid 3.32 writes it, trailing blanks included.
TEST(Ti, MessagesAndComputation) {
  const std::string text =
      "# a comment\n\n0 init\n0 compute 0.5\n0 compute 1e3\n0 send 1 5 10 0\n0 isend 1 6 3 1\n"
      "0 compute 2\n0 wait 0 1 6\n0 Ssend 1 7 10 1\n0 sendRecv 4 1 8 1 5 6\n0 sleep 0.25\n0 "
      "finalize\n"
      "1 init\n1 recv 0 5 10 0\n1 irecv 0 6 3 1 \n1 wait 0 1 6\n1 recv 0 7 10 1\n"
      "1 sendRecv 8 0 4 0 6 5\n1 finalize\n";
  // Datatypes: 0 double, 1 int, 5 float, 6 byte. 1e9 operations a second.
  EXPECT_THAT(
      ti_operations(text, 0),
      ElementsAre("+1000500ps MPI_Send to 1 tag 5 80b", "MPI_Isend to 1 tag 6 12b #1",
                  "+2000ps MPI_Wait #1", "MPI_Ssend to 1 tag 7 40b",
                  "MPI_Sendrecv to 1 tag 0 16b from 1 tag 0 8b", "+250000000000ps MPI_Finalize"));
  EXPECT_THAT(
      ti_operations(text, 1),
      ElementsAre("MPI_Recv from 0 tag 5 80b", "MPI_Irecv from 0 tag 6 12b #1", "MPI_Wait #1",
                  "MPI_Recv from 0 tag 7 40b", "MPI_Sendrecv to 0 tag 0 8b from 0 tag 0 16b"));
  const TiTrace trace = parse_ti(text, "x.txt", {});
  EXPECT_FALSE(trace.races);
  TiOptions fast;
  fast.speed = 2e9;
  EXPECT_EQ(ti_operations(text, 0, fast)[0], "+500250ps MPI_Send to 1 tag 5 80b");
}

TEST(Ti, DefaultDatatype) {
  EXPECT_EQ(ti_operations("0 init\n0 send 1 0 10\n1 init", 0)[0], "MPI_Send to 1 tag 0 10b");
  EXPECT_EQ(ti_operations("0 init 1\n0 send 1 0 10\n1 init", 0)[0], "MPI_Send to 1 tag 0 80b");
  EXPECT_EQ(ti_operations("0 send 1 0 5e4\n1 init", 0)[0], "MPI_Send to 1 tag 0 50000b");
}

TEST(Ti, WaitsTakeTheOldestRequestOfTheName) {
  EXPECT_THAT(
      ti_operations("0 isend 1 0 1\n0 isend 1 0 2\n0 isend 1 9 3\n0 wait 0 1 9\n0 wait 0 1 0\n"
                    "0 wait 0 1 0\n0 wait 0 1 0\n1 init",
                    0),
      ElementsAre("MPI_Isend to 1 tag 0 1b #1", "MPI_Isend to 1 tag 0 2b #2",
                  "MPI_Isend to 1 tag 9 3b #3", "MPI_Wait #3", "MPI_Wait #1", "MPI_Wait #2"));
}

TEST(Ti, WaitallTakesAllThatAreOpen) {
  EXPECT_THAT(
      ti_operations("0 irecv 1 0 1\n0 isend 1 0 2\n0 waitall 2\n0 waitall 2\n0 isend 1 1 3\n"
                    "0 compute 5\n1 init",
                    0),
      ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Isend to 1 tag 0 2b #2", "MPI_Waitall #1 #2",
                  "MPI_Isend to 1 tag 1 3b #3", "+5000ps MPI_Waitall #3"));
}

TEST(Ti, Wildcards) {
  const std::string text =
      "0 irecv -333 6 3 1\n0 wait -333 0 6\n0 irecv 1 -444 3 1\n0 wait 1 0 5\n"
      "0 recv -333 -444 1 6\n0 send -333 2 1 1\n0 isend -666 2 1 1\n0 wait 0 -333 2\n1 init\n";
  EXPECT_TRUE(parse_ti(text, "x.txt", {}).races);
  EXPECT_THAT(
      ti_operations(text, 0),
      ElementsAre("MPI_Irecv from any tag 6 12b #1", "MPI_Wait #1",
                  "MPI_Irecv from 1 tag any 12b #2", "MPI_Wait #2", "MPI_Recv from any tag any 1b",
                  "MPI_Send to none tag 2 4b", "MPI_Isend to none tag 2 4b #3", "MPI_Wait #3"));
}

TEST(Ti, TestsAndWaitsForAny) {
  const std::string text =
      "0 irecv 1 0 1\n0 irecv 1 1 1\n0 test 1 0 0\n0 test 1 0 1\n0 wait 1 0 0\n0 wait 1 0 1\n"
      "0 irecv 1 2 1\n0 irecv 1 3 1\n0 waitAny 2\n0 waitsome 2\n0 testany 1\n1 init\n";
  EXPECT_TRUE(parse_ti(text, "x.txt", {}).races);
  // Tests find the second request; a wait for any completes the first of its own.
  const Choose choose = [](const Operation& operation) -> std::vector<std::uint64_t> {
    if (operation.completing == Completing::test_all)
      return operation.completions[0].request == 2 ? std::vector<std::uint64_t>{2}
                                                   : std::vector<std::uint64_t>{};
    return {operation.completions[0].request};
  };
  EXPECT_THAT(
      ti_operations(text, 0, {}, choose),
      ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 1 tag 1 1b #2", "MPI_Test #1",
                  "MPI_Test #2", "MPI_Wait #1", "MPI_Irecv from 1 tag 2 1b #3",
                  "MPI_Irecv from 1 tag 3 1b #4", "MPI_Waitany #3 #4", "MPI_Waitsome #4"));
}

// What stands in the lines for each rank: at the root of all, elsewhere the rank's own where it is
// nothing. Datatype 1 has 4 bytes.
TEST(Ti, CountsOfCollectives) {
  const TiTrace trace = parse_ti(
      "0 gatherv 3 1 2 0 0 1 1\n0 scatterv 1 2 3 3 0 1 1\n0 allgatherv 3 1 2 3 1 1\n"
      "0 alltoallv 16 4 4 4 16 4 4 8 1 1\n0 alltoallv 16 4 4 4 16 4 4 4 1 1\n"
      "0 reducescatter 1 2 3 7e3 1\n2 gatherv 0 0 0 0 0 1 1\n1 gatherv 2 0 0 0 0 1 1\n",
      "x.txt", {});
  const auto counts = [&](std::size_t rank, std::size_t action) {
    const trace::CountsId id = trace.ranks.at(rank).actions.at(action).counts;
    std::vector<std::uint64_t> bytes;
    if (id != 0)
      for (const Bytes each : trace.counts.at(id - 1)) bytes.push_back(each.count);
    return bytes;
  };
  EXPECT_THAT(counts(0, 0), ElementsAre(4, 8, 0));
  EXPECT_THAT(counts(0, 1), ElementsAre(4, 8, 12));
  EXPECT_THAT(counts(0, 2), ElementsAre(4, 8, 12));
  EXPECT_THAT(counts(0, 3), ElementsAre(16, 16, 16, 16, 16, 32));
  EXPECT_THAT(counts(0, 4), ElementsAre());
  EXPECT_THAT(counts(0, 5), ElementsAre(4, 8, 12));
  EXPECT_THAT(counts(2, 0), ElementsAre(0));
  EXPECT_THAT(counts(1, 0), ElementsAre());
}

// The line of each collective that SimGrid 3.32 wrote for counts of its own on
// 4 ranks, as rank 2 sees it; datatype 1 has 4 bytes.
TEST(Ti, Collectives) {
  const std::string text =
      "2 init\n2 barrier\n2 bcast 10 1 0 \n2 reduce 10 5e3 1 0 \n2 allreduce 10 0 0 \n"
      "2 alltoall 10 10 0 0\n2 alltoallv 16 4 4 4 8 16 4 4 4 4 1 1\n2 gather 7 7 2 1 1\n"
      "2 allgather 7 7 1 1\n2 gatherv 3 1 2 3 4 2 1 1\n2 allgatherv 3 1 2 3 4 1 1\n"
      "2 scatter 7 9 2 1 1\n2 scatterv 1 2 3 4 3 2 1 1\n2 reducescatter 1 2 3 4 7e3 1\n"
      "2 scan 5 0 1 \n2 exscan 5 0 1 \n2 comm_size 4\n2 location a.c 7\n2 finalize\n3 gather 7 9 2 "
      "1 1\n"
      "3 gatherv 4 0 0 0 0 2 1 1\n3 scatter 7 9 2 1 1\n3 scatterv 0 0 0 0 4 2 1 1\n3 bcast 2\n"
      "3 reduce 2 0\n3 allGatherV 3 1 2 3 4 0 1 3 6\n3 allgatherv 3 1 2 3 4 1 0 1 3 6\n3 "
      "finalize\n";
  EXPECT_THAT(
      ti_operations(text, 2),
      ElementsAre("MPI_Barrier 0b on 0", "MPI_Bcast root 1 80b on 0", "MPI_Reduce root 1 80b on 0",
                  "+5000000ps MPI_Allreduce 80b on 0", "MPI_Alltoall 80b on 0",
                  "MPI_Alltoallv 20b on 0",  // 4 (4+4+4+8) / 4
                  "MPI_Gather root 2 28b on 0", "MPI_Allgather 28b on 0",
                  "MPI_Gatherv root 2 10b on 0",  // the root: 4 (1+2+3+4) / 4
                  "MPI_Allgatherv 10b on 0", "MPI_Scatter root 2 28b on 0",
                  "MPI_Scatterv root 2 10b on 0", "MPI_Reduce_scatter 40b on 0",
                  "+7000000ps MPI_Scan 20b on 0", "MPI_Exscan 20b on 0"));
  EXPECT_THAT(ti_operations(text, 3),
              ElementsAre("MPI_Gather root 2 28b on 0", "MPI_Gatherv root 2 16b on 0",
                          "MPI_Scatter root 2 36b on 0", "MPI_Scatterv root 2 16b on 0",
                          "MPI_Bcast root 0 2b on 0", "MPI_Reduce root 0 2b on 0",
                          "MPI_Allgatherv 2b on 0", "MPI_Allgatherv 10b on 0"));
}

TEST(Ti, DerivedDatatypes) {
  EXPECT_THAT(ti_error("0 bcast 2 0 -1 "),
              HasSubstr("x.txt:1: expected a basic datatype, found a derived one (-1)"));
  TiOptions options;
  options.derived_type = Bytes(12);
  EXPECT_THAT(ti_operations("0 bcast 2 0 -1 ", 0, options),
              ElementsAre("MPI_Bcast root 0 24b on 0"));
}

TEST(Ti, Errors) {
  EXPECT_EQ(ti_error("# nothing\n"), "x.txt:1: expected actions, found none");
  EXPECT_EQ(ti_error("0 init\nzero init"),
            "x.txt:2: expected a rank below 16777216 at the begin of the line, found 'zero'");
  EXPECT_EQ(ti_error("0 init\n99999999 init"),
            "x.txt:2: expected a rank below 16777216 at the begin of the line, found '99999999'");
  EXPECT_EQ(ti_error("0"), "x.txt:1: expected an action after the rank, found nothing");
  EXPECT_EQ(ti_error("0 iallreduce 10 0 0"),
            "x.txt:1: expected an action (compute, send, recv, isend, irecv, wait, waitall, "
            "allreduce, ...), found 'iallreduce'");
  EXPECT_EQ(ti_error("0 send 1 1e6\n1 init"),
            "x.txt:1: expected 'send' with a partner, a tag and a count (traces of SimGrid before "
            "3.20 have no tag), found 2 numbers");
  EXPECT_EQ(ti_error("0 send 2 0 1\n1 init"),
            "x.txt:1: expected a whole number from 0 to 1 as number 1 of 'send', found '2'");
  EXPECT_EQ(ti_error("0 send 1 -444 1\n1 init"),
            "x.txt:1: expected a whole number from 0 to 2147483647 as number 2 of 'send', found "
            "'-444'");
  EXPECT_EQ(ti_error("0 send 1 0 x\n1 init"),
            "x.txt:1: expected a number as number 3 of 'send', found 'x'");
  EXPECT_EQ(ti_error("0 send 1 0 1 99\n1 init"),
            "x.txt:1: expected a whole number from -1 to 54 as number 4 of 'send', found '99'");
  EXPECT_EQ(ti_error("0 send 1 0 3e18\n1 send 0 0 3e18 0"),
            "x.txt:2: expected a size below 4e18 bytes, found a larger one");
  EXPECT_EQ(ti_error("0 compute -1"),
            "x.txt:1: expected a number that is not negative as number 1 of 'compute', found '-1'");
  EXPECT_EQ(
      ti_error("0 compute nan"),
      "x.txt:1: expected a number that is not negative as number 1 of 'compute', found 'nan'");
  EXPECT_THAT(ti_error("0 compute 1e30"), HasSubstr("x.txt:1: expected a computation below"));
  EXPECT_EQ(ti_error("0 bcast 1 2\n1 init"),
            "x.txt:1: expected a whole number from 0 to 1 as number 2 of 'bcast', found '2'");
  EXPECT_EQ(ti_error("0 alltoallv 1 1 1 1\n1 init"),
            "x.txt:1: expected 'alltoallv' with a buffer's size and a count for each rank, twice, "
            "found 4 numbers");
  EXPECT_THROW(parse_ti("0 init", "x.txt", {0, {}}), UsageError);
}

class TiFiles : public testing::Test {
 protected:
  TiFiles() : folder_(testing::TempDir() + "ti-" + std::to_string(::getpid()) + "/") {
    std::filesystem::create_directories(folder_);
  }
  ~TiFiles() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }
  std::string folder_;
};

TEST_F(TiFiles, OneForEachRankOneForAllOrTheTraceItself) {
  write("a", "0 init\n0 send 1 0 1\n");
  write("b", "1 init\n1 recv 0 0 1\n");
  const std::string all = write("all", "1 recv 0 0 1\n0 send 1 0 1\n");
  for (const std::string& path : {write("two", "a\n\nb\n"), write("one", "all\n"), all}) {
    TiSource source(read_ti(path, {}));
    EXPECT_EQ(source.ranks(), 2);
    EXPECT_THAT(operations(source, 0), ElementsAre("MPI_Send to 1 tag 0 1b"));
    EXPECT_THAT(operations(source, 1), ElementsAre("MPI_Recv from 0 tag 0 1b"));
  }
}

TEST_F(TiFiles, Errors) {
  const auto error = [](const std::string& path) { return error_of([&] { read_ti(path, {}); }); };
  write("a", "0 init\n1 send 1 0 1\n");
  EXPECT_EQ(error(write("two", "a\na\n")),
            folder_ +
                "a:2: expected actions of rank 0, the file's place in the list, found some of "
                "rank 1");
  EXPECT_EQ(error(write("gone", "a\nnone\n")).substr(folder_.size()),
            "a:2: expected actions of rank 0, the file's place in the list, found some of rank 1");
  write("b", "0 init\n");
  EXPECT_EQ(error(write("gone", "b\nnone\n")),
            folder_ + "none: cannot read it: No such file or directory");
  write("a", "0 init\n0 send 1 0 1\n0 finalize\n");
  for (const char* cut : {"1 init\n", "1 init\n1 recv 0 0 1\n"}) {
    write("b", cut);
    EXPECT_EQ(error(write("cut", "a\nb\n")),
              folder_ +
                  "cut: expected 'finalize' of rank 1, which has 'init', as rank 0 has both; the "
                  "trace was cut off");
  }
  EXPECT_EQ(error(write("empty", "\n")),
            folder_ + "empty:1: expected names of trace files, found none");
  EXPECT_EQ(error(write("words", "a b\n")),
            folder_ +
                "words:1: expected the name of a trace file alone on the line, found 'b' "
                "after it");
}

}  // namespace
}  // namespace foretrace::sim
