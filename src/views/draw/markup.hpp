// Text in HTML, in LaTeX and on a terminal: a machine's or a function's name may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::views {

// For text and for attributes in double quotes. Control characters become spaces.
std::string escape_html(std::string_view text);

// For what stands inside a <script> element: no "</script>" or "<!--" in a name may end it.
std::string escape_script(std::string json);

// For any terminal and a line of its own: control characters and bytes that are not UTF-8 as "\\n"
// or "\\x1b". A program's names may hold anything, and none may move the cursor or end a line.
// TextTable does so with its cells.
std::string escape_text(std::string_view text);

// For any terminal: ASCII for the signs that data sheets use, spaces for control characters.
std::string plain_text(std::string text);

// For text mode. Latin-1 letters pass; what pdflatex has no glyph for becomes "?".
std::string escape_latex(std::string_view text);

}  // namespace foretrace::views
