#include "views/draw/page.hpp"

#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kStyle =
    R"(body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin-bottom: .3rem; }
h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--rule); }
h3 { margin-top: 2.2rem; font-family: ui-monospace, monospace; font-size: 1.15rem; }
nav { color: var(--soft); }
nav a { color: var(--c0); margin-right: .8em; white-space: nowrap; }
p { max-width: 48rem; }
a { color: var(--accent); }
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

std::string begin_page(std::string_view title, std::string_view style) {
  const std::string text = escape_html(title);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      text + "</title>\n<style>\n";
  out += page_colours();
  out += kStyle;
  out += style;
  return out + "</style>\n</head>\n<body>\n<main>\n<h1>" + text + "</h1>\n";
}

std::string end_page() {
  return "</main>\n</body>\n</html>\n";
}

}  // namespace foretrace::views
