#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cli/call_places.hpp"
#include "cli/damage.hpp"
#include "cli/output_file.hpp"
#include "cli/subcommand.hpp"
#include "trace/formats/formats.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string in;
  std::string out;
  std::string from;
  std::string to;
};

std::string known_formats() {
  std::string list;
  for (const trace::Format& format : trace::formats())
    list += (list.empty() ? "" : ", ") + std::string(format.name) + " (" + format.extension + ")";
  return list;
}

const trace::Format& pick(const std::string& path, const std::string& name, const char* option) {
  const trace::Format* format = name.empty() ? trace::format_of(path) : trace::find_format(name);
  if (!format)
    throw UsageError((name.empty() ? "no format has the extension of " + path + "; give " + option
                                   : std::string("unknown format '") + name + "'") +
                     "; there are " + known_formats());
  return *format;
}

void check_output(const Options& options) {
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_regular_file(options.out, ignored))
    throw UsageError("cannot write " + options.out + ": it is no regular file");
  if (fs::equivalent(options.in, options.out, ignored))
    throw UsageError("cannot write " + options.out + ": it is what is converted");
}

int convert(const Options& options) {
  const trace::Format& from = pick(options.in, options.from, "--from");
  const trace::Format& to = pick(options.out, options.to, "--to");
  const bool from_trace = std::string(from.name) == "trace";
  if (!from_trace && std::string(to.name) != "trace")
    throw UsageError("one of the two files must be a trace; convert to a trace first");
  check_output(options);
  if (!from_trace) {
    from.read(options.in, options.out);
    tell_written(options.out);
    return 0;
  }
  trace::TraceReader reader(options.in);
  to.write(reader, options.out, place_teller());
  tell_written(options.out);
  return tell_damage(options.in, reader.damage());
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("in", options->in, "The file to convert")->required();
  app.add_option("out", options->out, "The file to write")->required();
  app.add_option("--from", options->from, "Format of the first: " + known_formats());
  app.add_option("--to", options->to, "Format of the second");
  return [options] { return convert(*options); };
}

}  // namespace

const Subcommand kConvert{"convert", "Turn a trace into text, and text into a trace", declare,
                          "foretrace convert run.ftr run.txt\n"
                          "foretrace convert run.txt again.ftr\n"};

}  // namespace foretrace::cli
