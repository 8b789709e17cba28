// PythonLines: where a Python program is while one of its libraries calls MPI.
//
// The interpreter's own functions want its lock, which libraries give up around
// MPI calls, and to wait for it here might be to wait for ever. But what a thread is
// at does not change while it is in a call: its frames are read where they lie.
// How they lie differs between versions, so nothing is read before the first
// look that holds the lock has found the same by the interpreter's own functions; where it
// finds anything else there are no lines. Knows nothing of MPI; not safe for several
// threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.hpp"

namespace foretrace::callers {

// Begins the object of a call site that is a line of a Python program:
// "python:FUNCTION:FILE". Its offset is the line, from 1.
inline constexpr std::string_view kPythonSite = "python:";

class PythonLines {
 public:
  // A line stands among return addresses as one that no code has: these belong to
  // one function of the program, which begins at address & ~(kLines - 1).
  static constexpr std::uint64_t kLines = std::uint64_t{1} << 24;
  static bool is_line(std::uint64_t address) { return (address >> 63) != 0; }

  // Whether a library of that name is called by Python programs, and not by others.
  static bool is_extension(std::string_view file_name);

  // Looks for the interpreter in this process.
  PythonLines();

  // The lines that the calling thread is at, innermost first, without those of mpi4py.
  // Returns how many of at most `most` there are; 0: not known.
  std::uint32_t find(std::uint64_t* lines, std::uint32_t most) noexcept;
  // Of a line that find() gave.
  trace::Site site(std::uint64_t line) const;

 private:
  struct Interpreter;  // its functions

  // Where things lie in the interpreter's structures, in bytes.
  struct Layout {
    std::size_t thread_frame = 0;    // in a thread's state: its frame, or what points to it
    int frame_in = -1;               // in what points to it; -1: nothing in between
    std::size_t code = 0;            // in a frame
    std::size_t previous = 0;        // in a frame
    std::size_t instruction = 0;     // in a frame: the one that it is at
    int instruction_bytes = 0;       // it is a number of so many bytes; 0: an address
    std::size_t instructions = 0;    // in code: the first, where they are addresses
    std::size_t file = 0, name = 0;  // in code
  };
  struct Known {
    std::uint64_t code = 0;
    std::uint64_t instruction = 0;
    std::uint64_t file = 0;
    std::uint64_t name = 0;
    std::uint64_t line = 0;  // 0: to be left out
  };

  bool knows_version();
  bool check(std::uint64_t thread);
  bool check_code(std::uint64_t code);
  std::uint64_t first_frame(std::uint64_t thread) const;
  int instruction_of(std::uint64_t frame, std::uint64_t code) const;
  std::uint64_t line_at(std::uint64_t frame, std::uint64_t code);
  std::uint64_t new_line(std::uint64_t code, int instruction);

  enum class State { unchecked, good, bad };
  State state_ = State::bad;
  const Interpreter* python_ = nullptr;
  Layout layout_;
  std::array<Known, 512> known_{};
  std::vector<std::string> functions_;  // "python:NAME:FILE"
};

}  // namespace foretrace::callers
