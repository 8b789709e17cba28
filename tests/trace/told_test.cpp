// What was said of predicted times stays with the trace; no event moves for it.
#include <gtest/gtest.h>

#include "samples.hpp"
#include "scratch.hpp"
#include "trace/told.hpp"
#include "trace/trace.hpp"

namespace foretrace::trace {
namespace {

class Told : public ScratchFolder {
 protected:
  void write(int ranks, bool sealed) {
    Trace trace;
    trace.info = sample_info(ranks, Clock::virtual_);
    trace.info.options = "bound=avg";
    for (int r = 0; r < ranks; ++r) trace.info.nodes.push_back(r);
    trace.names = {"name"};
    trace.comms = {{1, {WorldRank(0), WorldRank(1)}}};
    trace.sealed = sealed;
    trace.ranks.resize(static_cast<std::size_t>(ranks));
    trace.ranks[0] = sample_events(2, Clock::virtual_);
    for (Event& event : trace.ranks[0]) event.counts = 0;
    for (Event& event : trace.ranks[0]) event.site = 0;
    write_trace(trace, path("t.ftr"));
  }
};

TEST_F(Told, NotesStayWithTheTrace) {
  for (const bool sealed : {true, false}) {
    write(2, sealed);
    const Trace before = read_trace(path("t.ftr"));
    EXPECT_TRUE(before.info.notes.empty());
    keep_notes(path("t.ftr"), {});
    const std::vector<std::string> notes = {"barrier takes no time", "a \"second\" one"};
    keep_notes(path("t.ftr"), notes);
    const Trace after = read_trace(path("t.ftr"));
    EXPECT_TRUE(after.damage.empty());
    EXPECT_EQ(after.sealed, sealed);
    EXPECT_EQ(after.info.notes, notes);
    EXPECT_EQ(after.info.options, "bound=avg");
    EXPECT_EQ(after.ranks, before.ranks);
    write_trace(after, path("again.ftr"));
    EXPECT_EQ(read_trace(path("again.ftr")).info.notes, notes);
  }
}

// However many ranks tell their nodes, there is room; beyond it is counted what was left out.
TEST_F(Told, MoreThanThereIsRoomFor) {
  for (const int ranks : {2, 700, 701, 702, 703, 2000}) {
    write(ranks, true);
    const Trace before = read_trace(path("t.ftr"));
    keep_notes(path("t.ftr"), std::vector<std::string>(100, std::string(200, 'x')));
    const Trace after = read_trace(path("t.ftr"));
    EXPECT_TRUE(after.damage.empty());
    const std::vector<std::string> notes = after.info.notes;
    ASSERT_GE(notes.size(), 8U) << ranks;
    EXPECT_EQ(notes.back(),
              std::to_string(101 - notes.size()) + " more were told when this was made");
    EXPECT_EQ(notes.front(), std::string(200, 'x'));
    EXPECT_EQ(after.info.nodes, before.info.nodes);
    EXPECT_EQ(after.ranks, before.ranks);
  }
}

}  // namespace
}  // namespace foretrace::trace
