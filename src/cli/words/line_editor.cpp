#include "cli/words/line_editor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#ifdef FORETRACE_WITH_LIBEDIT
#include <histedit.h>
#endif

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

bool read_plain(const std::string& prompt, std::string& line) {
  std::fputs(prompt.c_str(), stdout);
  std::fflush(stdout);
  if (std::getline(std::cin, line)) return true;
  std::fputs("\n", stdout);
  return false;
}

}  // namespace

std::string state_file(const std::string& name) {
  // The specification has relative paths ignored.
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/')
    return std::string(state) + "/foretrace/" + name;
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.local/state/foretrace/" + name : "";
}

#ifdef FORETRACE_WITH_LIBEDIT

namespace {

constexpr std::size_t kMostLines = 1000;
constexpr const char* kBlanks = " \t,";

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

// What all words begin with.
std::string common_start(const std::vector<std::string>& words) {
  std::string start = words.front();
  for (const std::string& word : words) {
    const auto [end, unused] = std::ranges::mismatch(start, word);
    start.erase(end, start.end());
  }
  return start;
}

}  // namespace

struct LineEditor::Terminal {
  const LineEditorOptions& options;
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event{};
  bool dropped = false;  // the line that el_gets() returns

  explicit Terminal(const LineEditorOptions& given) : options(given) {
    line = el_init("foretrace", stdin, stdout, stderr);
    history = history_init();
    if (!ok()) return;
    ::history(history, &event, H_SETSIZE, static_cast<int>(kMostLines));
    ::history(history, &event, H_SETUNIQUE, 1);
    load();
    el_set(line, EL_CLIENTDATA, this);
    el_set(line, EL_PROMPT, &Terminal::prompt);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_SIGNAL, 1);
    el_set(line, EL_HIST, ::history, history);
    el_set(line, EL_ADDFN, "foretrace-complete", "complete a word", &Terminal::complete);
    el_set(line, EL_BIND, "^I", "foretrace-complete", nullptr);
    // Keys, no signals, while a line is typed.
    el_set(line, EL_SETTY, "-d", "-isig", nullptr);
    el_set(line, EL_ADDFN, "foretrace-drop", "drop the line", &Terminal::drop);
    el_set(line, EL_BIND, "^C", "foretrace-drop", nullptr);
    el_set(line, EL_ADDFN, "foretrace-suspend", "stop for now", &Terminal::suspend);
    el_set(line, EL_BIND, "^Z", "foretrace-suspend", nullptr);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (line) el_end(line);
    if (history) history_end(history);
  }

  bool ok() const { return line && history; }

  // A file that has grown to twice what is remembered is cut.
  void load() {
    std::vector<std::string> lines = read_lines(options.history_file);
    const bool cut = lines.size() > 2 * kMostLines;
    if (lines.size() > kMostLines)
      lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMostLines));
    for (const std::string& each : lines) ::history(history, &event, H_ENTER, each.c_str());
    if (!cut) return;
    std::string text;
    for (const std::string& each : lines) text += each + "\n";
    const std::string fresh = options.history_file + ".new";
    if (append(fresh, text)) std::rename(fresh.c_str(), options.history_file.c_str());
  }

  // Readable by the user alone, as shells keep theirs.
  static bool append(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    return close(file) == 0 && whole;
  }

  // A prompt works without its history; a full disk is no reason to end it.
  void remember(const std::string& text) {
    ::history(history, &event, H_ENTER, text.c_str());
    if (options.history_file.empty()) return;
    std::error_code ignored;
    fs::create_directories(fs::path(options.history_file).parent_path(), ignored);
    append(options.history_file, text + "\n");
  }

  bool read(std::string& out) {
    int count = 0;
    const char* text = nullptr;
    do {
      dropped = false;
      text = el_gets(line, &count);
    } while (dropped);
    if (!text || count <= 0) {
      std::fputs("\n", stdout);
      return false;
    }
    out.assign(text, static_cast<std::size_t>(count));
    while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.pop_back();
    if (out.find_first_not_of(kBlanks) != std::string::npos) remember(out);
    return true;
  }

  static Terminal& of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
  static char* prompt(EditLine* line) {
    // libedit takes it as char* and does not write to it.
    return const_cast<char*>(of(line).options.prompt.c_str());
  }

  // Ctrl-C, as in shells.
  static unsigned char drop(EditLine* line, int) {
    of(line).dropped = true;
    std::fputs("^C\n", stdout);
    return CC_NEWLINE;
  }

  static unsigned char suspend(EditLine* line, int) {
    el_set(line, EL_PREP_TERM, 0);
    std::raise(SIGTSTP);
    el_set(line, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
  }

  static unsigned char complete(EditLine* line, int) {
    const LineEditorOptions& options = of(line).options;
    const LineInfo* info = el_line(line);
    const std::string text(info->buffer, info->cursor);
    const std::size_t blank = text.find_last_of(kBlanks);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    const std::string word = text.substr(begin);
    std::vector<std::string> fits;
    if (options.complete) fits = options.complete(text, begin);
    std::erase_if(fits, [&](const std::string& each) { return !each.starts_with(word); });
    if (fits.empty()) return CC_ERROR;
    std::string more = common_start(fits).substr(word.size());
    if (fits.size() == 1) more += " ";
    if (!more.empty()) return el_insertstr(line, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    std::fputs("\n", stdout);
    for (std::size_t i = 0; i < fits.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : "  ", fits[i].c_str());
    std::fputs("\n", stdout);
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(LineEditorOptions options) : options_(std::move(options)) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  terminal_ = std::make_unique<Terminal>(options_);
  if (!terminal_->ok()) terminal_.reset();
}

bool LineEditor::read(std::string& line) {
  return terminal_ ? terminal_->read(line) : read_plain(options_.prompt, line);
}

#else

struct LineEditor::Terminal {};

LineEditor::LineEditor(LineEditorOptions options) : options_(std::move(options)) {}

bool LineEditor::read(std::string& line) {
  return read_plain(options_.prompt, line);
}

#endif

LineEditor::~LineEditor() = default;

}  // namespace foretrace::cli
