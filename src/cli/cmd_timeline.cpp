#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "analysis/waiting.hpp"
#include "cli/call_places.hpp"
#include "cli/damage.hpp"
#include "cli/output_file.hpp"
#include "cli/subcommand.hpp"
#include "trace/trace.hpp"
#include "views/timeline.hpp"

namespace foretrace::cli {
namespace {

struct Options {
  std::string trace;
  std::string output;
  int width = 0;
};

// Columns of the terminal, 100 where there is none.
int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

int timeline(const Options& options) {
  std::string ending;
  if (!options.output.empty()) ending = ending_of(options.output, "timeline", {".html", ".txt"});
  trace::Trace trace = trace::read_trace(options.trace);
  analysis::fill_waits(trace);
  if (ending == ".html") {
    write_output(options.output, views::render_html_timeline(trace, place_teller()));
    return tell_damage(options.trace, trace.damage);
  }
  views::TextTimelineOptions how;
  how.width = options.width > 0 ? options.width : terminal_width();
  const std::string text = views::render_text_timeline(trace, how);
  if (ending.empty())
    std::fputs(text.c_str(), stdout);
  else
    write_output(options.output, text);
  return tell_damage(options.trace, trace.damage);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "The trace")->required();
  app.add_option("-o,--output", options->output,
                 "Write a page (FILE.html), or the text (FILE.txt)");
  app.add_option("--width", options->width, "Columns of the text; default: the terminal's")
      ->check(CLI::Range(40, 10000));
  return [options] { return timeline(*options); };
}

}  // namespace

const Subcommand kTimeline{"timeline", "Draw what each rank did when, as text or as a page",
                           declare,
                           "foretrace timeline run.ftr\n"
                           "foretrace timeline run.ftr -o run.html\n"};

}  // namespace foretrace::cli
