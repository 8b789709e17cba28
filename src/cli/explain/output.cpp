#include "cli/explain/output.hpp"

#include <cstdio>

#include "cli/explain/baseline.hpp"
#include "cli/system/output_file.hpp"
#include "cli/traces/call_places.hpp"
#include "explain/path_stretches.hpp"
#include "views/explain/report.hpp"

namespace foretrace::cli {
namespace {

std::string page_of(const explain::Explanation& explanation, const explain::Run& run,
                    Simulation& simulation) {
  const std::unique_ptr<sim::Source> source = simulation.open();
  sim::MemorySink sink(*source, simulation.info());
  simulation.run(*source, sink);
  return views::render_html_explanation(explanation, simulation.where(),
                                        path_stretches(run, critical_path(run)), sink.take(),
                                        place_teller());
}

}  // namespace

void check_explain_output(const ExplainOutput& output) {
  if (!output.path.empty()) ending_of(output.path, "explain", kExplainEndings);
  read_within(output.within);
}

int put_explanation(const ExplainOutput& output, const explain::Explanation& explanation,
                    const explain::Run& run, Simulation& simulation) {
  const auto text_of = [&](const std::string& form) {
    return form == ".html"   ? page_of(explanation, run, simulation)
           : form == ".json" ? views::render_json_explanation(explanation)
                             : views::render_text_explanation(explanation, simulation.where());
  };
  if (!output.path.empty())
    write_output(output.path, text_of(ending_of(output.path, "explain", kExplainEndings)));
  if (!output.baseline.empty()) {
    const ExplainComparison comparison = compare_with_baseline(
        output.baseline, views::render_json_explanation(explanation), read_within(output.within));
    if (!comparison.note.empty()) std::fprintf(stderr, "foretrace: %s\n", comparison.note.c_str());
    std::fputs(render_comparison(comparison, output.json).c_str(), stdout);
    return comparison.is_worse() ? 1 : 0;
  }
  if (output.path.empty()) std::fputs(text_of(output.json ? ".json" : ".txt").c_str(), stdout);
  return 0;
}

}  // namespace foretrace::cli
