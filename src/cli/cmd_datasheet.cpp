#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "analysis/datasheet.hpp"
#include "base/error.hpp"
#include "cli/number_list.hpp"
#include "cli/option_values.hpp"
#include "cli/process.hpp"
#include "cli/subcommand.hpp"
#include "cli/summary.hpp"
#include "cli/text_file.hpp"
#include "machine/compute_costs.hpp"
#include "machine/machine_file.hpp"
#include "machine/measurement.hpp"
#include "measure/functions.hpp"
#include "measure/measure.hpp"
#include "views/datasheet.hpp"

namespace foretrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRanks = 1 << 26;
constexpr std::size_t kMostModels = 26;  // a letter for each
constexpr const char* kLatexPackage = "texlive-latex-base";

struct Options {
  std::vector<std::string> machines;
  std::vector<std::string> formats;
  std::string ranks;
  std::string bytes;
  int digits = 0;
  bool full = false;
  std::string output;
};

// Launches in another state of the machine than the others are not pooled with them.
bool is_left_out(const measure::SampleSet& set, int launch) {
  const auto state = set.info.find("launch_" + std::to_string(launch) + "_state");
  return state != set.info.end() && state->second.starts_with("left out");
}

analysis::SheetSource source_beside(const std::string& model) {
  analysis::SheetSource source;
  source.computation = machine::read_compute_costs(model);
  source.invalid_reasons = machine::read_invalid_reasons(model);
  for (const measure::FunctionFacts& each : measure::measured_functions())
    source.meanings.emplace(each.name, each.meaning);
  const std::string path = measure::samples_path(model);
  if (!fs::exists(path)) return source;
  measure::SampleSet set = measure::read_samples(path);
  for (const measure::Sample& sample : set.samples)
    if (!is_left_out(set, sample.launch))
      source.samples.push_back(
          {sample.function, sample.ranks, Bytes(sample.bytes), sample.seconds, sample.kept});
  source.facts = std::move(set.info);
  return source;
}

std::vector<analysis::Datasheet> make_sheets(const Options& options) {
  std::vector<machine::MachineModel> models;
  for (const std::string& path : options.machines) {
    models.push_back(machine::read_machine_file(path));
    warn_of_measurement(path);
  }
  analysis::SheetOptions wanted;
  if (!options.ranks.empty())
    for (const std::uint64_t ranks : parse_number_list(options.ranks, {"--ranks", 1, kMostRanks}))
      wanted.ranks.push_back(static_cast<int>(ranks));
  if (!options.bytes.empty())
    for (const std::uint64_t bytes : parse_number_list(options.bytes, {"--bytes"}))
      wanted.bytes.emplace_back(bytes);
  wanted = analysis::common_options(models, wanted);
  std::vector<analysis::Datasheet> sheets;
  for (std::size_t i = 0; i < models.size(); ++i)
    sheets.push_back(
        analysis::make_datasheet(models[i], source_beside(options.machines[i]), wanted));
  return sheets;
}

bool is_installed(const std::string& program) {
  return run_and_wait({"sh", "-c", "command -v " + program + " >/dev/null 2>&1"}) == 0;
}

// Runs LaTeX on FOLDER/datasheet.tex, twice: longtable learns its widths in the first run.
void make_pdf(const fs::path& folder) {
  const std::string tex = (folder / "datasheet.tex").string();
  std::string program;
  for (const char* each : {"pdflatex", "lualatex"})
    if (program.empty() && is_installed(each)) program = each;
  if (program.empty())
    throw Error(tex +
                " is written, but there is no pdflatex and no lualatex to make a PDF of it; "
                "install Debian's " +
                kLatexPackage);
  const fs::path work = folder / "datasheet.latex";
  fs::create_directories(work);
  const std::string log = (work / "output").string();
  for (int run = 0; run < 2; ++run)
    if (run_and_wait({"sh", "-c",
                      "exec \"$0\" -no-shell-escape -interaction=nonstopmode "
                      "-halt-on-error -output-directory=\"$1\" \"$2\" >\"$3\" 2>&1 </dev/null",
                      program, work.string(), tex, log}) != 0)
      throw Error(program + " could not make a PDF of " + tex + "; see " + log +
                  "; it needs Debian's " + kLatexPackage);
  fs::rename(work / "datasheet.pdf", folder / "datasheet.pdf");
  fs::remove_all(work);
}

void write_gnuplot(const analysis::Datasheet& sheet, const fs::path& folder) {
  fs::create_directories(folder);
  for (const views::NamedText& file : views::render_gnuplot_datasheet(sheet))
    write_text_file((folder / file.name).string(), file.text);
}

int datasheet(const Options& options) {
  std::set<std::string> formats(options.formats.begin(), options.formats.end());
  if (formats.empty()) formats.insert(options.output.empty() ? "text" : "html");
  if (options.output.empty() && formats != std::set<std::string>{"text"})
    throw UsageError(
        "datasheet: only text goes to the terminal; give -o DIR for the other formats");
  if (options.machines.size() > kMostModels)
    throw UsageError("datasheet: at most " + std::to_string(kMostModels) +
                     " models can be compared");
  if (options.machines.size() > 1 && formats.contains("gnuplot"))
    throw UsageError("datasheet: gnuplot files are of one model; call it once for each");

  const std::vector<analysis::Datasheet> sheets = make_sheets(options);
  const auto document_of = [&](views::SheetExtent extent) {
    return sheets.size() == 1 ? views::datasheet_document(sheets.front(), options.digits, extent)
                              : views::comparison_document(sheets, options.digits, extent);
  };
  // A page folds away what is long.
  const views::SheetDocument whole = document_of(views::SheetExtent::full);
  const views::SheetDocument document =
      options.full ? whole : document_of(views::SheetExtent::brief);
  if (options.output.empty()) {
    std::fputs(views::render_text_datasheet(document).c_str(), stdout);
    return 0;
  }
  const fs::path folder = options.output;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(options.output + ": cannot make the folder: " + error.message());
  const auto write = [&](const char* name, const std::string& text) {
    write_text_file((folder / name).string(), text);
  };
  if (formats.contains("text")) write("datasheet.txt", views::render_text_datasheet(document));
  if (formats.contains("html"))
    write("datasheet.html", views::render_html_datasheet(whole, sheets));
  if (formats.contains("gnuplot")) write_gnuplot(sheets.front(), folder / "gnuplot");
  if (formats.contains("tex") || formats.contains("pdf"))
    write("datasheet.tex", views::render_latex_datasheet(document));
  if (formats.contains("pdf")) make_pdf(folder);
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("machines", options->machines,
                 std::string("The machine models; several are compared. Each") + kMachineHelp)
      ->transform(machine_name())
      ->required();
  app.add_option("--format", options->formats,
                 "What to write, separated by commas: html, tex, pdf, gnuplot, text")
      ->delimiter(',')
      ->check(CLI::IsMember({"html", "tex", "pdf", "gnuplot", "text"}));
  app.add_option("--ranks", options->ranks,
                 "Numbers of ranks in the tables, e.g. 8 or 2,4 or 2..64");
  app.add_option("--bytes", options->bytes,
                 "Message sizes in the tables, in bytes, e.g. 64k or 8,1k or 8..1m");
  app.add_option("--digits", options->digits,
                 "Significant digits of the coefficients; otherwise as their errors justify")
      ->check(CLI::Range(1, 17));
  app.add_flag(
      "--full", options->full,
      "text, tex, pdf: everything of each function, on pages of its own; html always has it");
  app.add_option("-o,--output", options->output,
                 "The folder to write to; none: text on the terminal");
  return [options] { return datasheet(*options); };
}

}  // namespace

const Subcommand kDatasheet{"datasheet",
                            "Write the data sheet of a machine model, or compare models", declare};

}  // namespace foretrace::cli
