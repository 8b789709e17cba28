#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "base/time_text.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/words/option_values.hpp"
#include "imported/imb.hpp"
#include "imported/model.hpp"
#include "imported/netpipe.hpp"
#include "imported/osu.hpp"
#include "imported/simgrid_csv.hpp"
#include "imported/smpi_platform.hpp"
#include "machine/machine_file.hpp"
#include "topology/shape.hpp"

namespace foretrace::cli {
namespace import_command {
namespace {

struct Options {
  std::string format;
  std::vector<std::string> files;
  std::string output;
  imported::Provenance provenance;
  int ranks = 0;
  std::string cluster;
  std::string link;
};

// Whoever gives them believes that they count.
void refuse_ranks(const std::string& format, const std::string& given) {
  if (format == "osu") return;
  throw UsageError(given + ": ranks are for osu; files of " + format +
                   (format == "imb" ? " say of how many they are" : " are of two"));
}

// FILE, or RANKS:FILE where the format does not say of how many ranks it is.
imported::InputFile input_file(const std::string& given, const std::string& format, int ranks) {
  std::error_code ignored;
  const std::size_t colon = given.find(':');
  int own = 0;
  const auto [end, code] = std::from_chars(given.data(), given.data() + given.size(), own);
  if (colon == given.npos || code != std::errc() || end != given.data() + colon || own < 1 ||
      std::filesystem::exists(given, ignored))
    return {given, imported::read_input(given), ranks, true};
  refuse_ranks(format, given);
  const std::string name = given.substr(colon + 1);
  return {name, imported::read_input(name), own};
}

// Of files that nobody says more of: their names.
std::string names_of(const std::vector<imported::InputFile>& files) {
  std::string names;
  for (const imported::InputFile& file : files)
    names += (names.empty() ? "" : ", ") + std::filesystem::path(file.name).filename().string();
  return names;
}

// "24us,1.25GB/s".
std::optional<imported::LinkOfPlatform> link_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t comma = text.find(',');
  const auto latency = parse_seconds(text.substr(0, comma));
  const auto bandwidth =
      comma == text.npos ? std::nullopt : machine::parse_bandwidth(text.substr(comma + 1));
  if (!latency || !bandwidth || !(*bandwidth > 0))
    throw UsageError("--link must be LATENCY,BANDWIDTH such as 24us,1.25GB/s, found '" + text +
                     "'");
  return imported::LinkOfPlatform{*latency, *bandwidth};
}

imported::ImportedModel read(const Options& options,
                             const std::vector<imported::InputFile>& files) {
  const std::string& format = options.format;
  if (!options.link.empty() && format != "smpi-platform")
    throw UsageError("--link is for smpi-platform");
  if (!options.cluster.empty() && format != "simgrid-csv")
    throw UsageError("--cluster is for simgrid-csv");
  if (format == "smpi-platform") {
    if (files.size() > 1) throw UsageError("import smpi-platform: one platform at a time");
    return imported::read_smpi_platform(files.front(), options.provenance, link_of(options.link));
  }
  imported::refuse_repeated(files);
  imported::Measurements measurements;
  if (format == "osu") measurements = imported::read_osu(files);
  if (format == "imb") measurements = imported::read_imb(files);
  if (format == "netpipe") measurements = imported::read_netpipe(files);
  if (format == "simgrid-csv") measurements = imported::read_simgrid_csv(files, options.cluster);
  return imported::fit_measurements(std::move(measurements), options.provenance);
}

int import_files(Options options) {
  ending_of(options.output, "import", {".toml"});
  check_writable(options.output);
  if (options.ranks > 0) refuse_ranks(options.format, "--ranks");
  std::vector<imported::InputFile> files;
  for (const std::string& given : options.files)
    files.push_back(input_file(given, options.format, options.ranks));
  if (options.provenance.source.empty()) options.provenance.source = names_of(files);
  if (options.provenance.name.empty())
    options.provenance.name = std::filesystem::path(options.output).stem().string();
  const imported::ImportedModel imported = read(options, files);
  for (const std::string& note : imported.notes)
    std::fprintf(stderr, "foretrace import: %s\n", note.c_str());
  machine::write_machine_file(imported.model, options.output);
  std::fputs(imported::render_functions(imported.model).c_str(), stdout);
  std::printf("model: %s, derived from %s\n", options.output.c_str(),
              imported.model.source.c_str());
  return 0;
}

// `foretrace import FILE` is what people try first.
CLI::Validator format_name() {
  static constexpr const char* kFormats[] = {"osu", "imb", "netpipe", "smpi-platform",
                                             "simgrid-csv"};
  return {[](std::string& text) {
            if (std::ranges::find(kFormats, text) != std::end(kFormats)) return std::string();
            return "before the files comes what wrote them: osu, imb, netpipe, smpi-platform or "
                   "simgrid-csv; found " +
                   text;
          },
          "{osu,imb,netpipe,smpi-platform,simgrid-csv}"};
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option(
         "format", options->format,
         "osu, imb, netpipe: what the OSU micro-benchmarks, the Intel MPI Benchmarks, NetPIPE "
         "print; smpi-platform, simgrid-csv: SimGrid's platform, its calibration's "
         "measurements")
      ->required()
      ->check(format_name());
  app.add_option("files", options->files,
                 "Plain or compressed by gzip; osu: RANKS:FILE for one that does not say of how "
                 "many ranks it is")
      ->required();
  app.add_option("-o,--output", options->output, "The machine model to write (TOML)")->required();
  app.add_option("--ranks", options->ranks, "osu: of all files that do not say it")
      ->check(in_range(1, 1 << 24));
  app.add_option("--cluster", options->cluster,
                 "simgrid-csv: whose rows of a file that has several clusters");
  app.add_option("--link", options->link,
                 "smpi-platform: LATENCY,BANDWIDTH of a route, which its factors belong to, e.g. "
                 "24us,1.25GB/s, instead of its <cluster>'s");
  app.add_option("--name", options->provenance.name, "The machine's name in the model");
  app.add_option("--source", options->provenance.source,
                 "Whose measurements they are, for example repository, commit and path");
  app.add_option("--licence", options->provenance.licence, "The measurements' licence");
  app.add_option("--date", options->provenance.date, "When they were made, for example 2016-07-26");
  app.add_option("--library", options->provenance.mpi_library, "The MPI library");
  return [options] { return import_files(*options); };
}

}  // namespace
}  // namespace import_command

const Subcommand kImport{"import", "Make a machine model of other people's measurements",
                         import_command::declare,
                         "foretrace import osu osu_latency.txt 64:osu_allreduce.txt -o m.toml\n"
                         "foretrace import simgrid-csv PingPong.csv.gz Recv.csv.gz Isend.csv.gz "
                         "-o m.toml\n"};

}  // namespace foretrace::cli
