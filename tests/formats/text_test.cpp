// Traces as text, and back: nothing is lost, and what makes no sense is refused
// with its line.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::formats {

using namespace trace;

namespace {

class TextFormat : public ScratchFolder {
 protected:
  // Every kind of event on rank 0, many on rank 1, names that need care on rank 2.
  void make(const std::string& part, Clock clock) {
    constexpr int kRanks = 4;
    create_trace_file(part, sample_info(kRanks, clock));
    TraceWriter kinds(part, WorldRank(0), clock);
    define(kinds, kRanks);
    for (const Event& event : sample_events(kRanks, clock)) kinds.write(event);
    TraceWriter many(part, WorldRank(1), clock);
    define(many, kRanks);
    for (const Event& event : many_events(kRanks, 1, 2000, clock)) many.write(event);
    many.enter(0, many.define_site({"/usr/bin/halo", 64}));
    TraceWriter names(part, WorldRank(2), clock);
    Event event;
    for (const char* name :
         {"", "two words", "\"\\\n\x01", "7", "same", "same", "a=b", "caf\xc3\xa9"}) {
      event.name = names.define_name(name);
      names.write(event);
    }
    event.name = 4;  // "same", the first of that name
    names.write(event);
  }

  std::string text_of(const std::string& trace) {
    TraceReader reader(trace);
    write_text(reader, path("a.txt"));
    return read_bytes(path("a.txt"));
  }

  // The message that refuses the text.
  std::string refusal(const std::string& text) {
    write_bytes(path("bad.txt"), text);
    try {
      read_text(path("bad.txt"), path("bad.ftr"));
    } catch (const Error& error) {
      EXPECT_FALSE(std::filesystem::exists(path("bad.ftr")));
      EXPECT_FALSE(std::filesystem::exists(path("bad.ftr.part")));
      return std::string(error.what()).substr(path("bad.txt").size());
    }
    return "accepted";
  }

  const std::string head_ =
      "foretrace-trace 1\ninfo {\"ranks\":2,\"clock\":\"virtual\"}\nrank 0\nname \"MPI_Send\"\n"
      "comm 0 0 1\n";
};

TEST_F(TextFormat, ThereAndBackIsTheSameBytes) {
  for (const Clock clock : {Clock::cpu, Clock::wall, Clock::virtual_}) {
    make(path("a.part"), clock);
    seal_trace_file(path("a.part"), path("a.ftr"));
    text_of(path("a.ftr"));
    read_text(path("a.txt"), path("b.ftr"));
    EXPECT_EQ(read_bytes(path("b.ftr")), read_bytes(path("a.ftr")));
  }
}

TEST_F(TextFormat, AnIncompleteTraceStaysSo) {
  make(path("a.part"), Clock::cpu);
  const std::string text = text_of(path("a.part"));
  read_text(path("a.txt"), path("b.ftr"));
  TraceReader reader(path("b.ftr"));
  EXPECT_FALSE(reader.sealed());
  EXPECT_EQ(text_of(path("b.ftr")), text);
  EXPECT_NE(text.find("\nin MPI_Something site=3\n"), std::string::npos);
}

TEST_F(TextFormat, Lines) {
  create_trace_file(path("a.part"), sample_info(2, Clock::virtual_));
  TraceWriter writer(path("a.part"), WorldRank(1), Clock::virtual_);
  define(writer, 2);
  Event event;
  event.kind = EventKind::recv;
  event.compute = Time::ns(5);
  event.enter = Time::ns(5);
  event.leave = Time::ns(12);
  event.wait = Time::ps(1);
  event.site = 2;
  event.recv.peer = WorldRank(0);
  event.recv.tag = -7;
  event.recv.bytes = Bytes(800);
  event.recv.any_source = true;
  writer.write(event);
  writer.close();
  const std::string text = text_of(path("a.part"));
  EXPECT_EQ(text.substr(text.find("rank 1\n")),
            "rank 1\nname \"MPI_Something\"\ncomm 0 0 1\nsite 4660 \"/usr/bin/application\"\n"
            "site 18446744073709551615 \"\"\n"
            "recv MPI_Something compute=5000 enter=5000 leave=12000 wait=1 site=2 from=0 "
            "from_tag=-7 from_bytes=800 any_source=1\n");
}

TEST_F(TextFormat, WhatMakesNoSenseIsRefusedWithItsLine) {
  EXPECT_EQ(refusal(""), ":0: expected 'foretrace-trace 1', found ''");
  EXPECT_EQ(refusal("foretrace-trace 1\nrank 0\n"), ":2: expected 'info {...}', found 'rank 0'");
  const char* info = ":2: expected a JSON object with the number of ranks and the clock";
  EXPECT_EQ(refusal("foretrace-trace 1\ninfo {\n"), info);
  EXPECT_EQ(refusal("foretrace-trace 1\ninfo {\"ranks\":0,\"clock\":\"cpu\"}\n"), info);
  const std::pair<const char*, const char*> lines[] = {
      {"rank 2", "expected a rank of the trace, found '2'"},
      {"rank 0", "expected the ranks in order, found 0 after 0"},
      {"name MPI_Recv", "expected a text in quotes, found 'MPI_Recv'"},
      {"name \"a\\x0", "expected a text in quotes, found '\"a\\x0'"},
      {"comm 1 2", "expected a rank of the trace, found '2'"},
      {"comm 1 0 1 0", "expected at most 2 members, found 3"},
      {"site x \"a\"", "expected an offset, found 'x'"},
      {"sent MPI_Send", "expected a definition or a kind of event, found 'sent'"},
      {"send MPI_Recv", "expected a name that was defined, found 'MPI_Recv'"},
      {"send 1", "expected a name that was defined, found '1'"},
      {"in 1", "expected a name that was defined, found '1'"},
      {"send MPI_Send to", "expected key=value, found 'to'"},
      {"send MPI_Send to=2", "expected a rank of the trace, found '2'"},
      {"send MPI_Send from=1", "expected a field of send, found 'from'"},
      {"send MPI_Send comm=1", "expected a communicator that was defined, found '1'"},
      {"send MPI_Send site=1", "expected a site that was defined, found '1'"},
      {"send MPI_Send mode=slow",
       "expected standard, synchronous, buffered or ready, found 'slow'"},
      {"send MPI_Send compute=-1", "expected a time in ps, found '-1'"},
      {"send MPI_Send enter=9 leave=8", "expected leave >= enter, found 8"},
      {"send MPI_Send steps=x", "expected a number, found 'x'"},
      {"recv MPI_Send any_tag=2", "expected 1, found '2'"},
      {"collective MPI_Send", "expected collective=NAME, found none"},
      {"collective MPI_Send collective=send", "expected a collective, found 'send'"},
      {"collective MPI_Send collective=bcast root=2",
       "expected a root in the communicator, found 2"},
      {"in MPI_Send where", "expected site=NUMBER, found 'where'"},
      {"in MPI_Send site=1", "expected a site that was defined, found '1'"},
      {"complete MPI_Send done=x", "expected a request, found 'x'"},
      {"complete MPI_Send done=1,0,5", "expected a number of bytes, found ''"},
      {"collective MPI_Send collective=allgatherv counts=1,y",
       "expected a number of bytes, found 'y'"},
      {"collective MPI_Send collective=allgatherv counts=5x1",
       "expected no more counts than members, found '5'"},
      {"collective MPI_Send collective=allgatherv counts=3x1",
       "expected counts as the call has them, found 3"},
      {"collective MPI_Send collective=bcast counts=2x1",
       "expected counts as the call has them, found 2"},
      {"collective MPI_Send collective=reduce reduction=sum",
       "expected what a reduction computes, found 'sum'"},
      {"call MPI_Send reduction=sum_int8 to=1",
       "expected a reduction or what it does to others, found both"},
      {"send MPI_Send reduction=other", "expected a field of send, found 'reduction'"},
      {"send MPI_Send counts=2x1", "expected counts as the call has them, found 2"},
  };
  for (const auto& [line, message] : lines)
    EXPECT_EQ(refusal(head_ + line + "\n"), std::string(":6: ") + message) << line;
  EXPECT_EQ(refusal(head_ + "send MPI_Send leave=5\nsend MPI_Send enter=4 leave=5\n"),
            ":7: expected enter >= 5, where the event before left; found 4");
  EXPECT_EQ(refusal("foretrace-trace 1\ninfo {\"ranks\":1,\"clock\":\"cpu\"}\nname \"x\"\n"),
            ":3: expected 'rank 0' first, found 'name'");
  EXPECT_EQ(refusal(head_ + "send MPI_Send leave=5\n"),
            ":6: expected the lines of 2 ranks, as 'info' says, found those of 1; a rank without "
            "events has a line 'rank N', too");
}

TEST_F(TextFormat, RefusedTextLeavesTheOldTrace) {
  write_bytes(path("bad.ftr"), "old");
  write_bytes(path("bad.txt"), head_ + "nonsense\n");
  EXPECT_THROW(read_text(path("bad.txt"), path("bad.ftr")), Error);
  EXPECT_EQ(read_bytes(path("bad.ftr")), "old");
}

// Counts stand beside the call, in runs.
TEST_F(TextFormat, Counts) {
  const std::string calls =
      "collective MPI_Send collective=alltoallv counts=3x0,7\n"
      "collective MPI_Send collective=gatherv bytes=9 root=0 counts=0\n"
      "collective MPI_Send collective=allgatherv bytes=4 counts=1,7\n";
  write_bytes(path("a.txt"), head_ + calls + "rank 1\n");
  read_text(path("a.txt"), path("a.ftr"));
  const std::string text = text_of(path("a.ftr"));
  EXPECT_EQ(text.substr(text.find("rank 0\n")),
            head_.substr(head_.find("rank 0\n")) + calls + "rank 1\n");
  TraceReader reader(path("a.ftr"));
  copy_trace(reader, path("b.ftr"));
  EXPECT_EQ(read_bytes(path("b.ftr")), read_bytes(path("a.ftr")));
}

TEST_F(TextFormat, CopyOfATraceIsTheSameBytes) {
  make(path("a.part"), Clock::virtual_);
  seal_trace_file(path("a.part"), path("a.ftr"));
  TraceReader reader(path("a.ftr"));
  copy_trace(reader, path("b.ftr"));
  EXPECT_EQ(read_bytes(path("b.ftr")), read_bytes(path("a.ftr")));
}

TEST(Formats, AreFoundByNameAndExtension) {
  ASSERT_NE(find_format("text"), nullptr);
  EXPECT_EQ(find_format("text"), format_of("/x/run.txt"));
  EXPECT_EQ(find_format("trace"), format_of("run.ftr"));
  EXPECT_EQ(find_format("Text"), nullptr);
  EXPECT_EQ(format_of("run"), nullptr);
}

}  // namespace
}  // namespace foretrace::formats
