#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/damage.hpp"
#include "cli/words/option_values.hpp"
#include "formats/foreign_trace.hpp"
#include "formats/formats.hpp"

namespace foretrace::cli {
namespace convert_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string in;
  std::string out;
  std::string from;
  std::string to;
};

std::string format_words() {
  std::string words;
  for (const formats::Format& format : formats::formats())
    words += (words.empty() ? "" : ",") + std::string(format.name);
  return words;
}

std::string known_formats() {
  std::string list;
  for (const formats::Format& format : formats::formats())
    list += (list.empty() ? "" : ", ") + std::string(format.name) + " (" + format.extension + ")";
  return list;
}

const formats::Format& pick(const std::string& path, const std::string& name, const char* option) {
  const formats::Format* format =
      name.empty() ? formats::format_of(path) : formats::find_format(name);
  if (!format)
    throw UsageError((name.empty() ? "no format has the extension of " + path + "; give " + option
                                   : std::string("unknown format '") + name + "'") +
                     "; there are " + known_formats());
  return *format;
}

bool is_trace(const formats::Format& format) {
  return std::string_view(format.name) == "trace";
}

void check_output(const Options& options) {
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_regular_file(options.out, ignored))
    throw UsageError("cannot write " + options.out + ": it is no regular file");
  if (fs::equivalent(options.in, options.out, ignored))
    throw UsageError("cannot write " + options.out + ": it is what is converted");
}

// What was lost or missing on the way.
void tell_notes(const std::string& path, const formats::Notes& notes) {
  for (const std::string& note : notes)
    std::fprintf(stderr, "foretrace: %s: %s\n", path.c_str(), note.c_str());
}

int write_trace_as(const formats::Format& to, const std::string& trace, const Options& options) {
  trace::TraceReader reader(trace);
  tell_notes(options.out, to.write(reader, options.out, place_teller()));
  const int status = tell_damage(options.in, reader.damage());
  tell_written(options.out);
  return status;
}

int convert(const Options& options) {
  const formats::Format& from = pick(options.in, options.from, "--from");
  const formats::Format& to = pick(options.out, options.to, "--to");
  if (!from.read) throw UsageError(std::string(from.name) + " is written only, not read");
  if (!to.write) throw UsageError(std::string(to.name) + " is read only, not written");
  check_output(options);
  if (is_trace(from)) return write_trace_as(to, options.in, options);
  if (is_trace(to)) {
    tell_notes(options.in, formats::read_foreign(options.in, options.out, from));
    tell_written(options.out);
    return 0;
  }
  const formats::ForeignTrace between(options.in, from);
  tell_notes(options.in, between.notes());
  return write_trace_as(to, between.path(), options);
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("in", options->in, "The file to convert")->required();
  app.add_option("out,-o", options->out, "The file to write: the second name, or behind -o")
      ->required();
  app.add_option("--from", options->from, "Format of the first: " + known_formats())
      ->check(offers(format_words()));
  app.add_option("--to", options->to, "Format of the second")->check(offers(format_words()));
  return [options] { return convert(*options); };
}

}  // namespace
}  // namespace convert_command

const Subcommand kConvert{"convert",
                          "Turn a trace into another format, or another format into a trace",
                          convert_command::declare,
                          "foretrace convert run.ftr run.txt\n"
                          "foretrace convert run.ftr run.otf2\n"
                          "foretrace convert traces.otf2 run.ftr\n"};

}  // namespace foretrace::cli
