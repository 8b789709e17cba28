#include "callers/python_lines.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

namespace foretrace::callers {

// Taken from the process that we are in. Objects are given by their addresses; those
// that functions return are the caller's to let go.
struct PythonLines::Interpreter {
  const char* (*version)() = nullptr;
  std::uint64_t (*this_thread)() = nullptr;  // wants no lock
  std::uint64_t (*lock_holder)() = nullptr;  // wants no lock
  std::uint64_t (*thread_frame)(std::uint64_t thread) = nullptr;
  std::uint64_t (*frame_back)(std::uint64_t frame) = nullptr;
  std::uint64_t (*frame_code)(std::uint64_t frame) = nullptr;
  int (*frame_line)(std::uint64_t frame) = nullptr;
  int (*frame_instruction)(std::uint64_t frame) = nullptr;  // from 3.11 on
  int (*code_line)(std::uint64_t code, int instruction) = nullptr;
  std::uint64_t (*attribute)(std::uint64_t object, const char* name) = nullptr;
  void (*clear_error)() = nullptr;
  void (*let_go)(std::uint64_t object) = nullptr;
  std::int64_t (*length)(std::uint64_t text) = nullptr;
  std::uint32_t (*character)(std::uint64_t text, std::int64_t at) = nullptr;
  int (*pause_collector)() = nullptr;  // from 3.10 on
  int (*resume_collector)() = nullptr;
  const void* code_type = nullptr;
  int minor = 0;

  bool load();
};

namespace {

using Address = std::uint64_t;

constexpr int kMostFrames = 200;
// In objects: the type stands behind the count of references.
constexpr std::size_t kType = 8;

template <class Function>
bool load(Function& function, const char* name, bool optional = false) {
  void* const symbol = ::dlsym(RTLD_DEFAULT, name);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol || optional;
}

template <class Value = Address>
Value read(Address from) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(from), sizeof value);
  return value;
}

// The same where nothing may be there.
bool peek(Address from, Address& value) {
  iovec to{&value, sizeof value};
  iovec there{reinterpret_cast<void*>(from), sizeof value};
  return ::process_vm_readv(::getpid(), &to, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof value);
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  if (c < 0x10000)
    put(0xE0 | c >> 12);
  else
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F));
  put(0x80 | (c >> 6 & 0x3F));
  put(0x80 | (c & 0x3F));
}

bool is_left_out(std::string_view file) {
  // The interpreter's own begin with "<frozen" and "<shim".
  return file.find("/mpi4py/") != std::string_view::npos || file.starts_with("<frozen") ||
         file.starts_with("<shim");
}

}  // namespace

bool PythonLines::Interpreter::load() {
  using callers::load;
  if (!load(version, "Py_GetVersion") || !load(this_thread, "PyGILState_GetThisThreadState") ||
      !load(thread_frame, "PyThreadState_GetFrame") || !load(frame_back, "PyFrame_GetBack") ||
      !load(frame_code, "PyFrame_GetCode") || !load(frame_line, "PyFrame_GetLineNumber") ||
      !load(code_line, "PyCode_Addr2Line") || !load(attribute, "PyObject_GetAttrString") ||
      !load(clear_error, "PyErr_Clear") || !load(let_go, "Py_DecRef") ||
      !load(length, "PyUnicode_GetLength") || !load(character, "PyUnicode_ReadChar") ||
      !load(code_type, "PyCode_Type"))
    return false;
  if (!load(lock_holder, "PyThreadState_GetUnchecked", true) || !lock_holder)
    if (!load(lock_holder, "_PyThreadState_UncheckedGet")) return false;
  load(frame_instruction, "PyFrame_GetLasti", true);
  load(pause_collector, "PyGC_Disable", true);
  load(resume_collector, "PyGC_Enable", true);
  return std::sscanf(version(), "3.%d", &minor) == 1;
}

bool PythonLines::is_extension(std::string_view file_name) {
  return file_name.find(".cpython-") != std::string_view::npos ||
         file_name.find(".abi3.") != std::string_view::npos || file_name.starts_with("libffi.");
}

PythonLines::PythonLines() {
  static const Interpreter* const found = [] {
    static Interpreter interpreter;
    return interpreter.load() ? &interpreter : nullptr;
  }();
  python_ = found;
  if (python_ && knows_version()) state_ = State::unchecked;
}

// CPython's Include/cpython/pystate.h, frameobject.h and internal/pycore_frame.h.
bool PythonLines::knows_version() {
  if (python_->minor < 9) return false;
  if (python_->minor <= 10) {
    layout_.thread_frame = 24;
    layout_.previous = 24;
    layout_.code = 32;
    layout_.instruction = python_->minor == 9 ? 104 : 96;
    layout_.instruction_bytes = python_->minor == 9 ? 1 : 2;
    return true;
  }
  if (!python_->frame_instruction) return false;
  layout_.thread_frame = python_->minor <= 12 ? 56 : 72;
  layout_.frame_in = python_->minor == 11 ? 8 : python_->minor == 12 ? 0 : -1;
  layout_.code = python_->minor == 11 ? 32 : 0;
  layout_.previous = python_->minor == 11 ? 48 : 8;
  layout_.instruction = 56;
  return true;
}

std::uint64_t PythonLines::first_frame(std::uint64_t thread) const {
  const Address frame = read(thread + layout_.thread_frame);
  if (layout_.frame_in < 0 || frame == 0) return frame;
  return read(frame + static_cast<Address>(layout_.frame_in));
}

int PythonLines::instruction_of(std::uint64_t frame, std::uint64_t code) const {
  if (layout_.instruction_bytes > 0)
    return read<int>(frame + layout_.instruction) * layout_.instruction_bytes;
  return static_cast<int>(read(frame + layout_.instruction) - code - layout_.instructions);
}

// Where the texts lie in code.
bool PythonLines::check_code(std::uint64_t code) {
  constexpr std::size_t kLargest = 256;
  const auto find = [&](const char* name, std::size_t& where) {
    const Address text = python_->attribute(code, name);
    if (text == 0) return python_->clear_error(), false;
    const std::size_t before = where;
    Address word = 0;
    where = 0;
    for (std::size_t at = 16; at < kLargest && where == 0; at += sizeof word)
      if (peek(code + at, word) && word == text) where = at;
    python_->let_go(text);
    return where != 0 && (before == 0 || before == where);
  };
  return find("co_filename", layout_.file) && find("co_name", layout_.name);
}

// Compares each frame with what the interpreter says of it. The lock is held.
bool PythonLines::check(std::uint64_t thread) {
  Address raw = 0, word = 0;
  if (!peek(thread + layout_.thread_frame, raw)) return false;
  if (layout_.frame_in >= 0 && !peek(raw + static_cast<Address>(layout_.frame_in), raw))
    return false;
  Address frame = python_->thread_frame(thread);
  bool good = frame != 0;
  int left = kMostFrames;
  while (good && frame != 0 && --left > 0) {
    const Address code = python_->frame_code(frame);
    // Frames of the interpreter's own stand between those of functions.
    while (raw != 0 && peek(raw + layout_.code, word) && word != code && --left > 0)
      if (!peek(raw + layout_.previous, raw)) raw = 0;
    Address at = 0, type = 0;
    good = raw != 0 && word == code && peek(raw + layout_.instruction, at) &&
           peek(code + kType, type) && type == reinterpret_cast<Address>(python_->code_type) &&
           check_code(code);
    if (good && layout_.instruction_bytes == 0) {
      const std::size_t first = at - code - static_cast<Address>(python_->frame_instruction(frame));
      good = layout_.instructions == 0 || layout_.instructions == first;
      layout_.instructions = first;
    }
    good = good &&
           python_->code_line(code, instruction_of(raw, code)) == python_->frame_line(frame) &&
           peek(raw + layout_.previous, raw);
    python_->let_go(code);
    const Address back = python_->frame_back(frame);
    python_->let_go(frame);
    frame = back;
  }
  if (frame != 0) python_->let_go(frame);
  return good;
}

std::uint64_t PythonLines::new_line(std::uint64_t code, int instruction) {
  const auto text = [&](Address object) {
    std::string result;
    const std::int64_t length = python_->length(object);
    for (std::int64_t i = 0; i < length; ++i) append_utf8(result, python_->character(object, i));
    return result;
  };
  const std::string file = text(read(code + layout_.file));
  if (is_left_out(file)) return 0;
  const std::string function =
      std::string(kPythonSite) + text(read(code + layout_.name)) + ":" + file;
  const auto found = std::find(functions_.begin(), functions_.end(), function);
  const auto number = static_cast<Address>(found - functions_.begin());
  if (found == functions_.end()) functions_.push_back(function);
  const int line =
      std::clamp(python_->code_line(code, instruction), 1, static_cast<int>(kLines) - 1);
  return Address{1} << 63 | number * kLines | static_cast<Address>(line);
}

std::uint64_t PythonLines::line_at(std::uint64_t frame, std::uint64_t code) {
  const Address at = read(frame + layout_.instruction);
  Known& known = known_[((code >> 4) ^ (at >> 1)) % known_.size()];
  // Code may be where other code was before.
  const Address file = read(code + layout_.file), name = read(code + layout_.name);
  if (known.code != code || known.instruction != at || known.file != file || known.name != name)
    known = {code, at, file, name, new_line(code, instruction_of(frame, code))};
  return known.line;
}

std::uint32_t PythonLines::find(std::uint64_t* lines, std::uint32_t most) noexcept {
  if (state_ == State::bad) return 0;
  const Address thread = python_->this_thread();
  if (thread == 0) return 0;
  try {
    if (state_ == State::unchecked) {
      // Other threads' calls tell nothing of this one.
      if (python_->lock_holder() != thread) return 0;
      // The collector runs functions of the program.
      const bool pauses = python_->pause_collector && python_->resume_collector;
      const bool paused = pauses && python_->pause_collector() != 0;
      state_ = check(thread) ? State::good : State::bad;
      if (paused) python_->resume_collector();
      if (state_ == State::bad) return 0;
    }
    std::uint32_t count = 0;
    Address frame = first_frame(thread);
    for (int i = 0; i < kMostFrames && frame != 0 && count < most; ++i) {
      const Address code = read(frame + layout_.code);
      if (code != 0 && read(code + kType) == reinterpret_cast<Address>(python_->code_type))
        if (const Address line = line_at(frame, code)) lines[count++] = line;
      frame = read(frame + layout_.previous);
    }
    return count;
  } catch (const std::exception&) {
    return 0;
  }
}

trace::Site PythonLines::site(std::uint64_t line) const {
  const Address number = (line & ~(Address{1} << 63)) / kLines;
  if (number >= functions_.size()) return {};
  return {functions_[number], line % kLines};
}

}  // namespace foretrace::callers
