// LineEditor: asks for lines at a prompt.
//
// At a terminal a line can be edited, earlier ones come back with the arrow keys, and
// the tab key completes words (libedit). Otherwise it prints the prompt and reads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace foretrace::cli {

struct LineEditorOptions {
  std::string prompt;
  // One line each, oldest first; "": lines are not kept. Each line is added when it is
  // entered, so that several prompts can share the file.
  std::string history_file;
  // What the word under the cursor may become, given the line up to the cursor and where
  // that word begins in it.
  std::function<std::vector<std::string>(const std::string& line, std::size_t word)> complete;
};

class LineEditor {
 public:
  explicit LineEditor(LineEditorOptions options);
  ~LineEditor();

  // False at the end of the input.
  bool read(std::string& line);

 private:
  struct Terminal;
  LineEditorOptions options_;
  std::unique_ptr<Terminal> terminal_;  // nothing: no terminal, or built without libedit
};

// Where the XDG base directory specification has NAME for this program: in
// $XDG_STATE_HOME/foretrace, by default ~/.local/state/foretrace. "" without a home.
std::string state_file(const std::string& name);

}  // namespace foretrace::cli
