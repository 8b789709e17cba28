#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/waiting.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "pyramid/before.hpp"
#include "pyramid/event_times.hpp"
#include "pyramid/event_walk.hpp"
#include "pyramid/file.hpp"
#include "pyramid/grid.hpp"
#include "pyramid/pyramid.hpp"
#include "pyramid/run_messages.hpp"
#include "trace/whole_reader.hpp"
#include "views/timeline/data.hpp"

namespace foretrace::pyramid {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::uint64_t kEventsPerCell = 16;           // at least, on average
constexpr std::uint64_t kMostRemembered = 10'000'000;  // as report does, of a measured run

struct Entry {
  std::uint64_t bin = 0;
  Class class_ = 0;
  std::uint64_t time = 0;  // ps
};
using Row = std::vector<Entry>;  // by bin and class

bool is_timed_call(EventKind kind) {
  return (kind >= EventKind::send && kind <= EventKind::call) || kind == EventKind::icollective ||
         kind == EventKind::probe;
}

template <typename T>
std::string_view bytes_of(const std::vector<T>& list) {
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T)};
}

Row merged(const Row& a, const Row& b) {
  Row all;
  all.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  const auto before = [](const Entry& x, const Entry& y) {
    return x.bin != y.bin ? x.bin < y.bin : x.class_ < y.class_;
  };
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && before(*left, *right))) {
      all.push_back(*left++);
    } else if (left == a.end() || before(*right, *left)) {
      all.push_back(*right++);
    } else {
      all.push_back({left->bin, left->class_, left->time + right->time});
      ++left, ++right;
    }
  }
  return all;
}

// A file of which it is known how far it was written.
class Output {
 public:
  explicit Output(const std::string& path) : file_(path) {}
  std::uint64_t put(std::string_view bytes) {
    const std::uint64_t start = at_;
    file_.write(bytes);
    at_ += bytes.size();
    return start;
  }
  // Tables begin where their numbers may.
  void align() { put(std::string_view("\0\0\0\0\0\0\0", (8 - at_ % 8) % 8)); }
  std::uint64_t at() const { return at_; }
  void commit() { file_.commit(); }

 private:
  NewFile file_;
  std::uint64_t at_ = 0;
};

// The rows of all levels of ranks: two of a level are one of the next.
class Rows {
 public:
  Rows(std::uint64_t ranks, std::uint32_t time_level, std::uint32_t first, Output& out)
      : first_(first), tiles_((std::uint64_t{1} << time_level) / kTileBins), out_(out) {
    while ((std::uint64_t{1} << top_) < ranks) ++top_;
    waiting_.resize(top_ + 1);
    segments_.resize(top_ + 1);
  }

  void add(Row row, std::uint32_t level = 0) {
    if (level >= first_) write(row, segments_[level]);
    if (level == top_) return;
    if (!waiting_[level]) {
      waiting_[level] = std::move(row);
      return;
    }
    Row both = merged(*waiting_[level], row);
    waiting_[level].reset();
    add(std::move(both), level + 1);
  }

  // Those that have no other half.
  void finish() {
    for (std::uint32_t level = 0; level < top_; ++level)
      if (waiting_[level]) {
        Row alone = std::move(*waiting_[level]);
        waiting_[level].reset();
        add(std::move(alone), level + 1);
      }
  }

  std::vector<Segment> segments() const {
    std::vector<Segment> all;
    for (const auto& level : segments_) all.insert(all.end(), level.begin(), level.end());
    return all;
  }

 private:
  void write(const Row& row, std::vector<Segment>& segments) {
    auto entry = row.begin();
    for (std::uint64_t tile = 0; tile < tiles_; ++tile) {
      std::string text;
      for (std::uint64_t bin = tile * kTileBins;
           entry != row.end() && entry->bin < (tile + 1) * kTileBins; ++entry) {
        views::put_varint(text, entry->bin - bin);
        text += static_cast<char>(entry->class_);
        views::put_varint(text, entry->time);
        bin = entry->bin;
      }
      segments.push_back({out_.put(text), text.size()});
    }
  }

  std::uint32_t first_;
  std::uint32_t top_ = 0;
  std::uint64_t tiles_;
  Output& out_;
  std::vector<std::optional<Row>> waiting_;
  std::vector<std::vector<Segment>> segments_;
};

// What the first reading finds.
struct Survey {
  std::uint64_t events = 0;
  Time end;
  std::vector<std::vector<std::pair<std::uint64_t, Time>>> waits;  // by rank, of a measured run
  bool given_up = false;
  RunMessages messages{kMostRemembered};
};

Survey survey(const std::string& path, const Progress& progress) {
  trace::WholeReader reader(path);
  const int ranks = reader.file().ranks();
  const bool measured = reader.file().info().clock == trace::Clock::wall;
  std::optional<analysis::WaitFinder> finder;
  if (measured) finder.emplace(trace::Clock::wall, kMostRemembered);
  Survey found;
  Event event;
  for (int r = 0; r < ranks; ++r) {
    Time end;
    bool over = false;
    while (reader.next(WorldRank(r), event)) {
      if (finder) {
        const bool has = trace::uses_comm(event);
        finder->take(event, has ? &reader.file().comm(WorldRank(r), event.comm) : nullptr,
                     reader.names()[event.name]);
      }
      if (over) continue;
      const bool has = trace::uses_comm(event);
      found.messages.take(r, event, has ? reader.file().comm(WorldRank(r), event.comm).key : 0);
      end = leave_of(event);
      over = event.kind == EventKind::finalize;
      ++found.events;
    }
    if (finder) finder->end_rank();
    found.messages.end_rank();
    found.end = std::max(found.end, end);
    progress(0.3 * (r + 1) / ranks);
  }
  if (!finder) return found;
  found.waits.resize(static_cast<std::size_t>(ranks));
  found.given_up = finder
                       ->finish([&](const analysis::Waited& call) {
                         found.waits[static_cast<std::size_t>(call.rank.value)].emplace_back(
                             call.event, call.wait);
                       })
                       .given_up;
  return found;
}

class Builder {
 public:
  Builder(const std::string& trace, const std::string& path, const trace::TellPlace& tell,
          Survey survey)
      : trace_(trace),
        tell_(tell),
        survey_(std::move(survey)),
        reader_(trace),
        out_(path),
        encoder_(reader_.file().ranks(), tell != nullptr) {
    choose_levels();
    out_.put({kMagic.data(), kMagic.size()});
  }

  void build(const Progress& progress) {
    const int ranks = reader_.file().ranks();
    survey_.messages.begin(ranks, footer_.end, footer_.area_level);
    Rows rows(static_cast<std::uint64_t>(ranks), footer_.time_level, footer_.first_level, out_);
    for (int r = 0; r < ranks; ++r) {
      rows.add(add_rank(r));
      progress(0.3 + 0.7 * (r + 1) / ranks);
    }
    rows.finish();
    finish(rows.segments());
  }

 private:
  // As fine as there are some events in a cell: first in time, else with more ranks in a block.
  void choose_levels() {
    const auto ranks = static_cast<std::uint64_t>(reader_.file().ranks());
    const auto cells = [&](std::uint32_t time, std::uint32_t first) {
      return ((ranks >> first) + 1) << time;
    };
    const std::uint64_t most = survey_.events / kEventsPerCell;
    footer_.time_level = 10;
    while (footer_.time_level < 20 && cells(footer_.time_level + 1, 0) <= most)
      ++footer_.time_level;
    while ((ranks >> footer_.first_level) > 1 &&
           cells(footer_.time_level, footer_.first_level) > most)
      ++footer_.first_level;
    footer_.end = std::max<std::int64_t>(1, survey_.end.count_ps());
    footer_.area_level = 10;
    while (footer_.area_level < 20 && std::uint64_t{32} << footer_.area_level <= survey_.events)
      ++footer_.area_level;
  }

  Class class_of(EventKind kind, trace::NameId name) {
    if (!is_timed_call(kind)) return 0;
    const auto [slot, added] = slots_.try_emplace(name, static_cast<std::uint32_t>(slots_.size()));
    if (added && slot->second < kMostFunctions - 1) functions_.push_back(name);
    return static_cast<Class>(1 + 2 * std::min(slot->second, kMostFunctions - 1));
  }

  std::vector<Event> read_rank(int r) {
    const WorldRank rank(r);
    std::vector<Event> events;
    Event event;
    while (reader_.next(rank, event)) {
      if (trace::uses_comm(event)) {
        const trace::Communicator& comm = reader_.file().comm(rank, event.comm);
        const auto [number, added] =
            comm_numbers_.try_emplace(comm.key, static_cast<trace::CommId>(comm_numbers_.size()));
        if (added) comms_.push_back(comm);
        event.comm = number->second;
      }
      events.push_back(event);
    }
    if (!survey_.waits.empty())
      for (const auto& [number, wait] : survey_.waits[static_cast<std::size_t>(r)])
        if (number < events.size()) events[number].wait = wait;
    return events;
  }

  // Writes the rank's events; returns its cells.
  Row add_rank(int r) {
    const std::vector<Event> events = read_rank(r);
    std::vector<views::TimelineEncoder::Piece> pieces;
    const auto told = encoder_.add_rank(events, r, &pieces, kPieceLength);
    ranks_told_.push_back(told);
    const std::string stream = encoder_.take_stream();
    const std::uint64_t start = out_.put(stream);
    ranks_.push_back({pieces_.size(), told.events, start + told.bytes, told.end.count_ps()});
    const std::size_t first = pieces_.size();
    for (const auto& piece : pieces)
      pieces_.push_back({piece.at.count_ps(), piece.event, start + piece.offset, 0});
    put_befores(stream, first);
    survey_.messages.add_rank(r, events, told.events, comms_);
    return row_of(events, told.events);
  }

  // Of the rank whose pieces begin with `first`.
  void put_befores(const std::string& stream, std::size_t first) {
    if (kinds_.size() < encoder_.shape_count())
      for (const auto shapes = encoder_.shapes(); kinds_.size() < shapes.size();)
        add_kind(shapes[kinds_.size()]);
    Before before;
    EventWalk walk({stream, trace_}, kinds_, 0);
    for (std::uint64_t i = 0; walk.next(); ++i) {
      if (i % (kPieceLength * kPiecesPerBefore) == 0) {
        std::string text;
        before.write(text);
        pieces_[first + i / kPieceLength].before = out_.put(text);
      }
      before.take(*walk.shape, walk.enter, walk.done);
      const std::size_t class_ = walk.shape->class_;
      before.spend(0, walk.enter - walk.start);
      before.spend(class_ == 0 ? 0 : class_ + 1, walk.ready - walk.enter);
      before.spend(class_, walk.leave - walk.ready);
    }
  }

  void add_kind(const views::TimelineShape& shape) {
    ShapeKind kind = channels_.add(shape);
    kind.class_ = class_of(static_cast<EventKind>(kind.kind), kind.name);
    kinds_.push_back(kind);
  }

  Row row_of(const std::vector<Event>& events, std::uint64_t count) {
    const Grid grid(footer_.end, footer_.time_level);
    Cutter cutter(grid, 0, grid.bins());
    Row row;
    std::array<std::uint64_t, 256> now{};
    std::uint64_t bin = 0;
    const auto flush = [&] {
      for (std::size_t c = 0; c < 1 + 2 * std::min<std::size_t>(slots_.size(), kMostFunctions); ++c)
        if (now[c] != 0) row.push_back({bin, static_cast<Class>(c), std::exchange(now[c], 0)});
    };
    const auto add = [&](Class class_, Time from, Time to) {
      cutter.cut(from.count_ps(), to.count_ps(), [&](std::uint64_t at, std::int64_t time) {
        if (at != bin) flush();
        bin = at;
        now[class_] += static_cast<std::uint64_t>(time);
        totals_[class_] += static_cast<std::uint64_t>(time);
      });
    };
    Time before;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Event& event = events[i];
      const Class class_ = class_of(event.kind, event.name);
      const Time ready = enter_of(event) + event.wait;
      add(0, before, enter_of(event));
      add(class_ == 0 ? Class(0) : static_cast<Class>(class_ + 1), enter_of(event), ready);
      add(class_, ready, leave_of(event));
      before = leave_of(event);
    }
    flush();
    return row;
  }

  std::string head() const {
    trace::Trace about;
    about.info = reader_.file().info();
    about.sealed = reader_.file().sealed();
    about.damage = reader_.file().damage();
    about.names = reader_.names();
    about.sites = reader_.sites();
    about.comms = comms_;
    const auto ranks = static_cast<double>(ranks_.size());
    views::TimelineSummary summary{
        survey_.end, Time::ps(static_cast<std::int64_t>(totals_[0])), {}, {}};
    if (totals_[0] > 0 && survey_.end > Time()) {
      summary.speedup = static_cast<double>(totals_[0]) / static_cast<double>(footer_.end);
      summary.efficiency = *summary.speedup / ranks;
    }
    const nlohmann::json served = {{"level", footer_.time_level},
                                   {"functions", functions_},
                                   {"totals", totals_},
                                   {"waits", !survey_.given_up},
                                   {"delays", !survey_.messages.delays().empty()},
                                   {"messages", !survey_.messages.areas().empty()}};
    return views::timeline_head(about, tell_, summary, encoder_, ranks_told_,
                                {{"served", served.dump()}});
  }

  void finish(const std::vector<Segment>& segments) {
    const auto put = [&](auto& at, auto& count, const auto& list) {
      out_.align();
      at = out_.put(bytes_of(list));
      count = list.size();
    };
    const std::string text = head();
    footer_.head = out_.put(text);
    footer_.head_size = text.size();
    put(footer_.shapes, footer_.shape_count, kinds_);
    put(footer_.pieces, footer_.piece_count, pieces_);
    put(footer_.ranks, footer_.rank_count, ranks_);
    put(footer_.segments, footer_.segment_count, segments);
    put(footer_.delays, footer_.delay_count, survey_.messages.delays());
    std::vector<double> areas;
    for (const auto& area : survey_.messages.areas())
      areas.insert(areas.end(), area.begin(), area.end());
    put(footer_.areas, footer_.area_count, areas);
    out_.align();
    footer_.source_size = std::filesystem::file_size(trace_);
    footer_.source_time = std::filesystem::last_write_time(trace_).time_since_epoch().count();
    out_.put({reinterpret_cast<const char*>(&footer_), sizeof footer_});
    out_.commit();
  }

  std::string trace_;
  const trace::TellPlace& tell_;
  Survey survey_;
  trace::WholeReader reader_;
  Output out_;
  views::TimelineEncoder encoder_;
  Footer footer_;
  std::map<std::uint64_t, trace::CommId> comm_numbers_;  // by key
  std::vector<trace::Communicator> comms_;
  std::map<trace::NameId, std::uint32_t> slots_;
  std::vector<trace::NameId> functions_;  // by slot
  std::vector<views::TimelineEncoder::Rank> ranks_told_;
  std::vector<RankEntry> ranks_;
  std::vector<Piece> pieces_;
  Channels channels_;
  std::vector<ShapeKind> kinds_;             // of the encoder's shapes
  std::array<std::uint64_t, 256> totals_{};  // by class, ps
};

}  // namespace

void build_pyramid(const std::string& trace, const std::string& path, const trace::TellPlace& tell,
                   const Progress& progress) {
  Builder builder(trace, path, tell, survey(trace, progress));
  builder.build(progress);
}

}  // namespace foretrace::pyramid
