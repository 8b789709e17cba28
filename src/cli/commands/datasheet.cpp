#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "analysis/datasheet.hpp"
#include "base/error.hpp"
#include "cli/machines/notes.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/output_file.hpp"
#include "cli/system/process.hpp"
#include "cli/words/named_files.hpp"
#include "cli/words/number_list.hpp"
#include "cli/words/option_values.hpp"
#include "machine/compute_costs.hpp"
#include "machine/machine_file.hpp"
#include "machine/measurement.hpp"
#include "measure/campaign/measure.hpp"
#include "measure/core/functions.hpp"
#include "views/datasheet/datasheet.hpp"

namespace foretrace::cli {
namespace datasheet_command {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRanks = 1 << 26;
constexpr std::size_t kMostModels = 26;  // a letter for each
constexpr const char* kLatexPackage = "texlive-latex-base";

struct Options {
  std::vector<std::string> machines;
  bool all = false;
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
    warn_of_machine(path, models.back());
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

// Runs LaTeX on `tex`, twice: longtable learns its widths in the first run.
void make_pdf(const fs::path& tex, const fs::path& pdf) {
  std::string program;
  for (const char* each : {"pdflatex", "lualatex"})
    if (program.empty() && is_installed(each)) program = each;
  if (program.empty())
    throw Error(tex.string() +
                " is written, but there is no pdflatex and no lualatex to make a PDF of it; "
                "install Debian's " +
                kLatexPackage);
  const fs::path work = fs::path(tex).replace_extension("latex");
  fs::create_directories(work);
  const std::string log = (work / "output").string();
  for (int run = 0; run < 2; ++run)
    if (run_and_wait({"sh", "-c",
                      "exec \"$0\" -no-shell-escape -interaction=nonstopmode "
                      "-halt-on-error -output-directory=\"$1\" \"$2\" >\"$3\" 2>&1 </dev/null",
                      program, work.string(), tex.string(), log}) != 0)
      throw Error(program + " could not make a PDF of " + tex.string() + "; see " + log +
                  "; it needs Debian's " + kLatexPackage);
  fs::rename(work / tex.filename().replace_extension("pdf"), pdf);
  fs::remove_all(work);
  tell_written(pdf.string());
}

void write_gnuplot(const analysis::Datasheet& sheet, const fs::path& folder) {
  fs::create_directories(folder);
  for (const views::NamedText& file : views::render_gnuplot_datasheet(sheet))
    write_text_file((folder / file.name).string(), file.text);
  tell_written(folder.string());
}

constexpr std::pair<const char*, const char*> kFormatOfEnding[] = {
    {".html", "html"}, {".pdf", "pdf"}, {".tex", "tex"}, {".txt", "text"}};

// The format that the output's name asks for; "" where it is a folder.
std::string format_of_output(const std::string& output) {
  std::error_code ignored;
  if (output.empty() || output.ends_with('/') || fs::is_directory(output, ignored)) return "";
  std::vector<std::string> endings;
  for (const auto& [ending, unused] : kFormatOfEnding) endings.emplace_back(ending);
  if (!fs::path(output).has_extension()) return "";
  const std::string ending = ending_of(output, "datasheet", endings);
  return std::ranges::find(kFormatOfEnding, ending, &std::pair<const char*, const char*>::first)
      ->second;
}

std::set<std::string> wanted_formats(const Options& options, const std::string& of_output) {
  std::set<std::string> formats(options.formats.begin(), options.formats.end());
  if (options.output.empty() && !formats.empty() && formats != std::set<std::string>{"text"})
    throw UsageError(
        "datasheet: only text goes to the terminal; give -o FILE.html, FILE.pdf, FILE.tex, or -o "
        "FOLDER for several formats");
  if (!of_output.empty() && !formats.empty() && formats != std::set<std::string>{of_output})
    throw UsageError("datasheet: -o " + options.output + " is one file, and --format says " +
                     "otherwise; leave out --format, or give -o FOLDER/");
  if (!of_output.empty()) return {of_output};
  if (formats.empty()) formats.insert(options.output.empty() ? "text" : "html");
  if (options.machines.size() > 1 && formats.contains("gnuplot"))
    throw UsageError("datasheet: gnuplot files are of one model; call it once for each");
  return formats;
}

// A page folds away what is long; text and paper may be brief.
struct Documents {
  const views::SheetDocument& page;
  const views::SheetDocument& paper;
};

// To PATH for one file, else to FOLDER/datasheet.*.
void write_sheets(const std::vector<analysis::Datasheet>& sheets, const Documents& documents,
                  const std::set<std::string>& formats, const fs::path& stem) {
  const auto file = [&stem](const char* ending) { return fs::path(stem).concat(ending).string(); };
  if (formats.contains("text"))
    write_output(file(".txt"), views::render_text_datasheet(documents.paper));
  if (formats.contains("html"))
    write_output(file(".html"), views::render_html_datasheet(documents.page, sheets));
  if (formats.contains("gnuplot")) write_gnuplot(sheets.front(), stem.parent_path() / "gnuplot");
  if (!formats.contains("tex") && !formats.contains("pdf")) return;
  // For a PDF alone a name that nobody has, for as long as it is needed.
  const std::string tex = formats.contains("tex") ? file(".tex") : unused_name(file(".tex"));
  write_text_file(tex, views::render_latex_datasheet(documents.paper));
  if (formats.contains("tex")) tell_written(tex);
  if (formats.contains("pdf")) make_pdf(tex, file(".pdf"));
  if (!formats.contains("tex")) fs::remove(tex);
}

int datasheet(Options& options) {
  if (options.machines.empty() != options.all)
    throw UsageError("give machine models, or --all for those that come with Foretrace");
  if (options.all)
    for (const NamedFile& file : named_files(Named::machine)) options.machines.push_back(file.path);
  const std::string of_output = format_of_output(options.output);
  const std::set<std::string> formats = wanted_formats(options, of_output);
  if (options.machines.size() > kMostModels)
    throw UsageError("datasheet: at most " + std::to_string(kMostModels) +
                     " models can be compared");

  const std::vector<analysis::Datasheet> sheets = make_sheets(options);
  const auto document_of = [&](views::SheetExtent extent) {
    return sheets.size() == 1 ? views::datasheet_document(sheets.front(), options.digits, extent)
                              : views::comparison_document(sheets, options.digits, extent);
  };
  const views::SheetDocument whole = document_of(views::SheetExtent::full);
  const views::SheetDocument document =
      options.full ? whole : document_of(views::SheetExtent::brief);
  if (options.output.empty()) {
    std::fputs(views::render_text_datasheet(document).c_str(), stdout);
    return 0;
  }
  if (!of_output.empty()) {
    write_sheets(sheets, {whole, document}, formats, fs::path(options.output).replace_extension());
    return 0;
  }
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) throw Error(options.output + ": cannot make the folder: " + error.message());
  write_sheets(sheets, {whole, document}, formats, fs::path(options.output) / "datasheet");
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("machines", options->machines,
                 std::string("The machine models; several are compared. Each") + kMachineHelp)
      ->transform(machine_name());
  app.add_flag("--all", options->all, "All machines that come with Foretrace, side by side");
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
      ->check(in_range(1, 17));
  app.add_flag(
      "--full", options->full,
      "text, tex, pdf: everything of each function, on pages of its own; html always has it");
  app.add_option("-o,--output", options->output,
                 "A file by its ending (.html, .pdf, .tex, .txt), or a folder for several formats; "
                 "none: text on the terminal");
  return [options] { return datasheet(*options); };
}

}  // namespace
}  // namespace datasheet_command

const Subcommand kDatasheet{"datasheet",
                            "Write the data sheet of a machine model, or compare models",
                            datasheet_command::declare,
                            "foretrace datasheet cray-t3d\n"
                            "foretrace datasheet cray-t3d laptop.toml -o both.html\n"
                            "foretrace datasheet --all -o all.html\n"
                            "foretrace datasheet laptop.toml -o laptop.pdf\n"};

}  // namespace foretrace::cli
