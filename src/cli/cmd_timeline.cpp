#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "analysis/waiting.hpp"
#include "cli/call_places.hpp"
#include "cli/subcommand.hpp"
#include "cli/text_file.hpp"
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
  trace::Trace trace = trace::read_trace(options.trace);
  analysis::fill_waits(trace);
  if (!options.output.empty()) {
    write_text_file(options.output, views::render_html_timeline(trace, place_teller()));
    return 0;
  }
  views::TextTimelineOptions how;
  how.width = options.width > 0 ? options.width : terminal_width();
  std::fputs(views::render_text_timeline(trace, how).c_str(), stdout);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "The trace")->required();
  app.add_option("-o,--output", options->output, "Write an HTML page instead of text");
  app.add_option("--width", options->width, "Columns of the text; default: the terminal's")
      ->check(CLI::Range(40, 10000));
  return [options] { return timeline(*options); };
}

}  // namespace

const Subcommand kTimeline{"timeline", "Draw what each rank did when, as text or as a page",
                           declare};

}  // namespace foretrace::cli
