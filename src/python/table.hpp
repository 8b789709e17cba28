// OpenTrace: a trace of any format that stays open while arrays are filled with what it holds.
//
// Rows are counted when it is opened, so that whoever asks can allocate; filling goes through
// the file again, and nothing of it is kept.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/foreign_trace.hpp"
#include "python/columns.hpp"
#include "trace/whole_reader.hpp"

namespace foretrace::python {

class OpenTrace {
 public:
  // Reads it once. Throws Error.
  explicit OpenTrace(const std::string& path);

  // All but the events, as JSON.
  const std::string& description() const { return description_; }

  // Rows of `rank`, or of all ranks if it is -1. Throws Error for an unknown table.
  std::int64_t rows(std::string_view table, int rank);

  struct Wanted {
    std::string_view column;
    void* to;  // room for all rows
  };
  // Throws Error for an unknown column, or where the file has changed.
  void fill(std::string_view table, int rank, const std::vector<Wanted>& wanted);

 private:
  struct Counts {
    std::int64_t events = 0, completions = 0, ends = 0;
    std::int64_t of(TableKind kind) const {
      return kind == TableKind::events        ? events
             : kind == TableKind::completions ? completions
                                              : ends;
    }
  };

  void survey(WorldRank rank);
  void describe(const formats::Notes& notes);
  std::int32_t comm_of(WorldRank rank, const trace::Event& event);
  template <class Take>
  void each_row(WorldRank rank, TableKind kind, Take&& take);

  std::unique_ptr<formats::ForeignTrace> foreign_;
  std::unique_ptr<trace::WholeReader> reader_;
  std::vector<Counts> counts_;  // by rank
  std::vector<std::int64_t> first_event_;
  std::unordered_map<std::uint64_t, std::int32_t> comm_numbers_;  // by key
  std::vector<trace::Communicator> comms_;
  std::string description_;
};

}  // namespace foretrace::python
