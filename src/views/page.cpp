#include "views/page.hpp"

#include "views/markup.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kColours =
    R"(:root { color-scheme: light dark; --ink: #16191f; --paper: #ffffff; --soft: #5d6673; --rule: #d6dae0;
  --row: #f4f6f8; --c0: #2f5fa8; --c1: #b4500f; --c2: #2b7a4b; --c3: #8a3fa0; --c4: #7a6a12; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --paper: #15181d; --soft: #98a2b0; --rule: #343a44; --row: #1c2027;
    --c0: #7fa9ea; --c1: #ff9c5e; --c2: #6cc892; --c3: #cf93e2; --c4: #d3bf55; }
}
)";

constexpr const char* kStyle =
    R"(body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin-bottom: .3rem; }
h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--rule); }
h3 { margin-top: 2.2rem; font-family: ui-monospace, monospace; font-size: 1.15rem; }
nav { color: var(--soft); }
nav a { color: var(--c0); margin-right: .8em; white-space: nowrap; }
p { max-width: 48rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption, summary { text-align: left; color: var(--soft); padding: .2rem 0; }
caption { white-space: nowrap; }
th, td { padding: .22rem .8rem .22rem .2rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); vertical-align: top; }
th { white-space: normal; vertical-align: bottom; }
th { font-weight: 600; }
tbody tr:nth-child(even) { background: var(--row); }
.t { text-align: left; }
td.t:last-child { white-space: normal; min-width: 8em; }
@media print { body { max-width: none; } h3, table { break-inside: avoid; } }
)";

}  // namespace

std::string_view page_colours() {
  return kColours;
}

std::string begin_page(std::string_view title, std::string_view style) {
  const std::string text = escape_html(title);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      text + "</title>\n<style>\n" + kColours + kStyle;
  out += style;
  return out + "</style>\n</head>\n<body>\n<h1>" + text + "</h1>\n";
}

std::string end_page() {
  return "</body>\n</html>\n";
}

}  // namespace foretrace::views
