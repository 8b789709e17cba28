// The data sheets of the two machines of the thesis, by hand, and of models that
// lack almost everything.
#include "views/datasheet/datasheet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "machine/machine_file.hpp"
#include "views/datasheet/numbers.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/plot_axis.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::make_datasheet;
using analysis::SheetGroup;
using analysis::SheetOptions;
using analysis::SheetSample;
using machine::Coefficient;
using machine::Equation;
using ::testing::HasSubstr;
using ::testing::Not;

machine::MachineModel shipped(const std::string& name) {
  return machine::read_machine_file(std::string(FORETRACE_SOURCE_DIR) + "/machines/" + name);
}

machine::MachineModel model_of(const std::string& text) {
  return machine::parse_machine("[machine]\nname = \"m\"\n" + text, "m.toml");
}

Datasheet sheet_of(const machine::MachineModel& model, SheetOptions options = {},
                   const std::vector<SheetSample>& samples = {}) {
  return make_datasheet(model, {samples, {}, {}}, options);
}

// The cell in the row that begins with `first`, under the header `column`, of the
// first table that has both.
std::string cell(const SheetDocument& document, const std::string& first, const std::string& column,
                 const std::string& caption = "") {
  for (const SheetBlock& block : document.blocks) {
    const auto* table = std::get_if<SheetTable>(&block);
    if (!table || table->caption.find(caption) == std::string::npos) continue;
    for (std::size_t c = 0; c < table->header.size(); ++c)
      for (const auto& row : table->rows)
        if (table->header[c] == column && row.at(0) == first) return row.at(c);
  }
  return "no such cell";
}

// Whether every element is closed, in order, and no "<" or "&" stands alone. "" or the fault.
std::string html_fault(const std::string& page) {
  static const std::set<std::string> kEmpty{"meta", "!DOCTYPE"};
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t at = 0; at < page.size(); ++at) {
    if (page[at] == '&') {
      const std::string rest = page.substr(at, 6);
      if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") &&
          !rest.starts_with("&quot;"))
        return "bare & at " + page.substr(at, 40);
    }
    if (page[at] == '>') return "bare > at " + page.substr(at, 40);
    if (page[at] != '<') continue;
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return "open tag " + page.substr(at, 40);
    const std::string tag = page.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.find('<') != std::string::npos) return "< in tag " + tag;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "quotes in " + tag;
    if (const std::size_t id = tag.find(" id=\""); id != std::string::npos)
      if (!ids.insert(tag.substr(id, tag.find('"', id + 5) - id)).second) return "twice: " + tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + tag;
      open.pop_back();
    } else if (tag.back() != '/' && !kEmpty.contains(name)) {
      open.push_back(name);
    }
    at = end;
    if (name == "style" || name == "script") at = page.find("</" + name + ">", at) - 1;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

// Of three lines that lie on each other the lowest is widest; one that lies elsewhere is as always.
TEST(SvgPlot, LinesBelowOthersAreWider) {
  const auto line = [](int colour, double y) {
    const std::vector<PlotPoint> piece{{1, y, y, y}, {8, y, y, y}};
    return PlotSeries{"", false, colour, {piece}};
  };
  const Plot plot{"", "", "", true, {line(0, 1), line(1, 2), line(2, 1), line(3, 1)}, ""};
  const std::string svg = render_svg_plot(plot);
  EXPECT_THAT(svg, HasSubstr("class=\"line c0\" style=\"stroke-width:6.6\""));
  EXPECT_THAT(svg, HasSubstr("class=\"line c2\" style=\"stroke-width:4.2\""));
  EXPECT_THAT(svg, HasSubstr("class=\"line c1\" d="));
  EXPECT_THAT(svg, HasSubstr("class=\"line c3\" d="));
}

TEST(Datasheet, SparcBarrierOfEightTakes72Milliseconds) {
  // 9000 us * 8
  const SheetDocument document =
      datasheet_document(sheet_of(shipped("sparc-ethernet.toml")), 0, SheetExtent::full);
  EXPECT_EQ(cell(document, "barrier", "p = 8"), "72 ms");
  EXPECT_EQ(cell(document, "barrier", "p = 2"), "18 ms");
}

TEST(Datasheet, T3DTimesFollowTheRegimes) {
  SheetOptions options;
  options.ranks = {2, 16};
  options.bytes = {Bytes(256), Bytes(257), Bytes(8192)};
  const SheetDocument document =
      datasheet_document(sheet_of(shipped("cray-t3d.toml"), options), 0, SheetExtent::full);
  // d = 32: 60 + 0.7 * 32 = 82.4; d = 32.125: 60 + 0.5 * 32.125 = 76.0625; d = 1024: 572
  EXPECT_EQ(cell(document, "recv", "256 B"), "82.4 us");
  EXPECT_EQ(cell(document, "recv", "257 B"), "76.06 us");
  EXPECT_EQ(cell(document, "recv", "8192 B"), "572 us");
  // bcast: 200 + 2 * 16 + 0.6 * 32 = 251.2
  EXPECT_EQ(cell(document, "bcast", "256 B", "t(16, d)"), "251.2 us");
  // 10 + 8 ln 16 = 32.1807
  EXPECT_EQ(cell(document, "barrier", "p = 16"), "32.18 us");
}

TEST(Datasheet, T3DEquationsAreThoseOfTheThesis) {
  const SheetDocument document =
      datasheet_document(sheet_of(shipped("cray-t3d.toml")), 0, SheetExtent::full);
  const auto small = [&](const char* f) { return cell(document, f, "time in us", "Small"); };
  const auto large = [&](const char* f) { return cell(document, f, "time in us", "Large"); };
  EXPECT_EQ(small("send"), "30");
  EXPECT_EQ(small("ssend"), "80 + 0.5 × d");
  EXPECT_EQ(small("irecvoverlap"), "0.6 + 0.02 × d");
  EXPECT_EQ(small("allreduce"), "300 + 6 × p + 2 × ln p × d");
  EXPECT_EQ(large("isendoverlap"), "3 + 0.0002 × d");
  EXPECT_EQ(large("gather"), "200 × ln p + 0.0009 × p² × d");
  EXPECT_EQ(large("alltoall"), "40 × p + 0.3 × p × d");
  EXPECT_EQ(cell(document, "barrier", "time in us"), "10 + 8 × ln p");
  EXPECT_EQ(cell(document, "irecvoverlap", "Q", "Large"), "3e-05");
  EXPECT_EQ(cell(document, "gather", "Q", "Large"), "-");
}

TEST(Datasheet, ErrorsChooseTheDigits) {
  Equation equation;
  equation.constant = {104.4, 13.2};  // the error begins with 1: two digits
  equation.startup = {6.3507, 0.783};
  equation.data_form = machine::DataForm::p_d;
  equation.data = {0.0439693, 0.00175882};
  EXPECT_EQ(format_equation(equation, 0), "(104 ± 13) + (6.4 ± 0.8) × p + (0.044 ± 0.002) × p × d");
  // The thesis's own rounding of that equation, section 3.5.2.
  EXPECT_EQ(format_equation(equation, 1), "(100 ± 10) + (6 ± 0.8) × p + (0.04 ± 0.002) × p × d");
  equation.constant = {-2.5, 0};
  equation.startup = {-3, 0};
  equation.data = {};
  EXPECT_EQ(format_equation(equation, 0), "-2.5 - 3 × p");
  EXPECT_EQ(format_equation(Equation(), 0), "0");
}

// Terms that are no papers' form, apart for powers of two.
const char* const kTerms =
    "[[function]]\nname = \"bcast\"\nclass = \"collective\"\n[[function.regime]]\n"
    "terms = { \"1\" = 2.0, \"ceil log2 p\" = 3.0, \"(p-1)/p d\" = 0.5, \"(p-1)/p\" = 6.0 }\n"
    "other_terms = { \"(p-1)\" = [4.0, 0.5], \"ceil log2 p d\" = 0.25, \"(p-1) d\" = 0.125 }\n"
    "interval = [0.5, 2.0]\n";

TEST(Datasheet, DrawsSumsOfTerms) {
  const machine::MachineModel model = model_of(kTerms);
  EXPECT_EQ(format_equation(model.find("bcast")->regimes[0].equation, 0),
            "2 + 3 × ceil log2 p + 6 × (p-1)/p + 0.5 × (p-1)/p × d where p is a power of two; else "
            "(4.0 ± 0.5) × (p-1) + 0.25 × ceil log2 p × d + 0.125 × (p-1) × d");
  EXPECT_TRUE(analysis::depends_on_ranks(*model.find("bcast")));
  EXPECT_TRUE(analysis::depends_on_bytes(*model.find("bcast")));
  EXPECT_TRUE(analysis::has_errors(*model.find("bcast")));
}

TEST(Datasheet, DigitsKeepTrailingZerosAndLeaveOutNoise) {
  EXPECT_EQ(format_digits(0.5, 2), "0.50");
  EXPECT_EQ(format_digits(234, 1), "200");
  EXPECT_EQ(format_digits(999.7, 3), "1000");
  EXPECT_EQ(format_digits(0.00002, 1), "2e-05");
  EXPECT_EQ(format_digits(0, 3), "0");
  // More error than value: one digit stays.
  EXPECT_EQ(round_coefficient({0.3, 20}, 0).value, "0.3");
  EXPECT_EQ(round_coefficient({0, 0.26}, 0).error, "0.3");
}

TEST(Datasheet, NoDigitsThatNobodyMeasured) {
  const auto shown = [](double value, double error) {
    const RoundedCoefficient rounded = round_coefficient({value, error}, 0);
    return rounded.error.empty() ? rounded.value : rounded.value + " ± " + rounded.error;
  };
  EXPECT_EQ(shown(13.254045454545459, 2.7e-15), "13.254");  // a fit through all of its points
  EXPECT_EQ(shown(13.254045454545459, 0), "13.254");
  EXPECT_EQ(shown(0.1234567891, 0), "0.123457");
  EXPECT_EQ(shown(13.254045454545459, 0.003), "13.254 ± 0.003");
  EXPECT_EQ(shown(13.254045454545459, 0.0014), "13.2540 ± 0.0014");
  EXPECT_EQ(shown(13.254045454545459, 4e-5), "13.254");  // an error beyond the sixth digit
  EXPECT_EQ(shown(13.254045454545459, 1e-4), "13.25405 ± 0.00010");
  EXPECT_EQ(shown(9000, 0), "9000");
  EXPECT_EQ(shown(0.0002, 0), "0.0002");
}

TEST(Datasheet, MarksWhatWasNotMeasured) {
  SheetOptions options;
  options.ranks = {8, 16};
  const SheetDocument document =
      datasheet_document(sheet_of(shipped("sparc-ethernet.toml"), options), 0, SheetExtent::full);
  EXPECT_EQ(cell(document, "barrier", "p = 8"), "72 ms");
  EXPECT_EQ(cell(document, "barrier", "p = 16"), "144 ms *");
}

TEST(Datasheet, TellsWhatWritingAgainTakes) {
  const machine::MachineModel model = model_of(
      "[rewrite]\nsend = [[1024, 0], [1048576, 0.00102297]]\n"
      "[[function]]\nname = \"send\"\nclass = \"point-to-point\"\n"
      "[[function.regime]]\nc = 10.0\nk = 1.0\ng = \"d\"\n");
  const SheetDocument document = datasheet_document(sheet_of(model), 0, SheetExtent::brief);
  EXPECT_EQ(cell(document, "send", "1024 B", "Writing again"), "0 s");
  EXPECT_EQ(cell(document, "send", "8192 B", "Writing again"), "7 us");
  EXPECT_EQ(cell(document, "send", "1 MiB", "Writing again"), "1.023 ms");
}

TEST(Datasheet, TellsWhatUntouchedDataTakes) {
  const machine::MachineModel model = model_of(
      "[[function]]\nname = \"send\"\nclass = \"point-to-point\"\n"
      "untouched = [[1024, 1.0], [65536, 0.5]]\n"
      "[[function.regime]]\nc = 10.0\nk = 1.0\ng = \"d\"\n"
      "[[function]]\nname = \"recv\"\nclass = \"point-to-point\"\n"
      "[[function.regime]]\nc = 10.0\nk = 1.0\ng = \"d\"\n");
  const SheetDocument document = datasheet_document(sheet_of(model), 0, SheetExtent::brief);
  EXPECT_EQ(cell(document, "send", "64 B", "Untouched"), "no such cell");  // nobody has one
  EXPECT_EQ(cell(document, "send", "1024 B", "Untouched"), "1.00");
  EXPECT_EQ(cell(document, "send", "8192 B", "Untouched"), "0.75");  // half way by the logarithm
  EXPECT_EQ(cell(document, "send", "1 MiB", "Untouched"), "0.50");
  EXPECT_EQ(cell(document, "recv", "1 MiB", "Untouched"), "no such cell");
}

TEST(Datasheet, SamplesTellTheMeasuredSizesAndTheResiduals) {
  const machine::MachineModel model = model_of(
      "ranks = 4\ntime_unit = \"us\"\n[[function]]\nname = \"bcast\"\nclass = \"collective\"\n"
      "[[function.regime]]\nc = 10.0\nk = 1.0\ng = \"d\"\n");
  const std::vector<SheetSample> samples{{"bcast", 4, Bytes(10), 22e-6},
                                         {"bcast", 4, Bytes(10), 18e-6},
                                         {"bcast", 4, Bytes(10), 26e-6},
                                         {"bcast", 2, Bytes(40), 50e-6},
                                         {"other", 2, Bytes(40), 1}};
  SheetOptions options;
  options.ranks = {2, 8};
  options.bytes = {Bytes(5), Bytes(20)};
  const Datasheet sheet = sheet_of(model, options, samples);
  const auto& bcast = *sheet.find("bcast");
  ASSERT_EQ(bcast.measured.size(), 2u);
  EXPECT_EQ(bcast.measured[0].ranks, 2);
  EXPECT_EQ(bcast.measured[1].samples, 3u);
  EXPECT_DOUBLE_EQ(bcast.measured[1].median, 22e-6);
  EXPECT_DOUBLE_EQ(bcast.measured[1].fitted, 20e-6);
  // (2, 5), (2, 20), (8, 5), (8, 20): 5 is below the least size, 8 above the most ranks.
  ASSERT_EQ(bcast.times.size(), 4u);
  EXPECT_TRUE(bcast.times[0].beyond);
  EXPECT_FALSE(bcast.times[1].beyond);
  EXPECT_TRUE(bcast.times[3].beyond);
  EXPECT_EQ(cell(datasheet_document(sheet, 0, SheetExtent::full), "4", "median - equation"),
            "10.0 %");
  EXPECT_EQ(bcast.curves.size(), 2u);
}

TEST(Datasheet, ModelWithoutFunctions) {
  const Datasheet sheet = sheet_of(model_of(""));
  const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::full);
  EXPECT_THAT(render_text_datasheet(document), HasSubstr("The model holds no function."));
  EXPECT_EQ(html_fault(render_html_datasheet(document, {})), "");
  EXPECT_EQ(render_gnuplot_datasheet(sheet).size(), 1u);
  const std::vector<Datasheet> both{sheet, sheet};
  EXPECT_THAT(render_text_datasheet(comparison_document(both, 0, SheetExtent::full)),
              HasSubstr("The models hold no function."));
}

TEST(Datasheet, OneFunctionThatTakesNoTime) {
  const Datasheet sheet =
      sheet_of(model_of("[[function]]\nname = \"send\"\nclass = \"point-to-point\"\n"
                        "[[function.regime]]\nbytes = [0]\nc = 0.0\nk = 0.0\ng = \"d\"\n"));
  const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::full);
  EXPECT_EQ(html_fault(render_html_datasheet(document, {})), "");
  EXPECT_THAT(render_html_datasheet(document, {}), Not(HasSubstr("nan")));
  EXPECT_THAT(render_latex_datasheet(document), Not(HasSubstr(",inf")));
  EXPECT_THAT(render_text_datasheet(document), HasSubstr("0 s"));
}

TEST(Datasheet, NamesMayHoldAnything) {
  EXPECT_EQ(escape_html("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp; ");
  EXPECT_EQ(escape_latex("50% of_{a} $x$ \\input#~^"),
            "50\\% of\\_\\{a\\} \\$x\\$ \\textbackslash{}input\\#\\textasciitilde{}"
            "\\textasciicircum{}");
  EXPECT_EQ(escape_latex("Zürich µ \xff 東"), "Zürich $\\mu$ ? ?");
  EXPECT_EQ(escape_latex("-3 a-b"), "$-$3 a{-}b");
  machine::MachineModel model = shipped("sparc-ethernet.toml");
  model.name = "<script>alert('1')</script> & \\end{document}";
  machine::Function odd = model.functions.at("bcast");
  odd.name = "b'c<a>\\s";
  model.functions.emplace(odd.name, odd);
  odd.name = "b_c_a__s";  // the same in gnuplot's letters
  model.functions.emplace(odd.name, odd);
  const Datasheet sheet = sheet_of(model);
  const std::string page =
      render_html_datasheet(datasheet_document(sheet, 0, SheetExtent::full), {&sheet, 1});
  EXPECT_EQ(html_fault(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  const std::string tex = render_latex_datasheet(datasheet_document(sheet, 0, SheetExtent::full));
  EXPECT_EQ(tex.find("\\end{document}"), tex.size() - std::string("\\end{document}\n").size());
  std::set<std::string> names;
  for (const NamedText& file : render_gnuplot_datasheet(sheet)) {
    EXPECT_TRUE(names.insert(file.name).second) << file.name;
    EXPECT_EQ(file.name.find_first_of("/'<\\"), std::string::npos) << file.name;
  }
}

TEST(Datasheet, PagesAreWellFormedAndNeedNoNetwork) {
  for (const char* name : {"cray-t3d.toml", "sparc-ethernet.toml"}) {
    const Datasheet sheet = sheet_of(shipped(name));
    const SheetDocument document = datasheet_document(sheet, 2, SheetExtent::full);
    const std::string page = render_html_datasheet(document, {&sheet, 1});
    EXPECT_EQ(html_fault(page), "") << name;
    EXPECT_THAT(page, Not(HasSubstr("http")));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_THAT(render_text_datasheet(document), Not(HasSubstr("\xC2")));  // ASCII
  }
}

TEST(Datasheet, FaultsInAPageAreSeen) {
  EXPECT_NE(html_fault("<p>a<b></p>"), "");
  EXPECT_NE(html_fault("<p>a & b</p>"), "");
  EXPECT_EQ(html_fault("<p>a &amp; b</p>"), "");
}

TEST(Datasheet, SameInputSameBytes) {
  const auto all = [] {
    const Datasheet sheet = sheet_of(shipped("cray-t3d.toml"));
    const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::full);
    std::string out = render_text_datasheet(document) + render_html_datasheet(document, {}) +
                      render_latex_datasheet(document);
    for (const NamedText& file : render_gnuplot_datasheet(sheet)) out += file.name + file.text;
    return out;
  };
  EXPECT_EQ(all(), all());
}

TEST(Datasheet, ComparesAtTheSamePoints) {
  SheetOptions options;
  options.ranks = {8};
  options.bytes = {Bytes(8)};
  const std::vector<Datasheet> sheets{sheet_of(shipped("sparc-ethernet.toml"), options),
                                      sheet_of(shipped("cray-t3d.toml"), options)};
  bool barrier = false;
  bool ssend = false;
  for (const analysis::ComparedCall& row : analysis::compare_datasheets(sheets)) {
    if (row.function == "barrier") {
      barrier = true;
      // 72 ms and 10 + 8 ln 8 = 26.6355 us
      EXPECT_DOUBLE_EQ(row.times[0]->avg, 0.072);
      EXPECT_NEAR(row.times[1]->avg, 26.6355e-6, 1e-10);
      EXPECT_NEAR(*row.ratios[1], 26.6355e-6 / 0.072, 1e-8);
    }
    if (row.function == "ssend") {  // the SPARCs have none
      ssend = true;
      EXPECT_FALSE(row.times[0].has_value());
      EXPECT_FALSE(row.ratios[1].has_value());
      EXPECT_EQ(row.ranks, 2);
    }
  }
  EXPECT_TRUE(barrier);
  EXPECT_TRUE(ssend);
  const SheetDocument document = comparison_document(sheets, 0, SheetExtent::full);
  // allsend is the first function that has a row with p = 8: 2000 + 2 * 1 us.
  EXPECT_EQ(cell(document, "8", "A"), "2.002 ms");
  EXPECT_EQ(html_fault(render_html_datasheet(document, {})), "");
}

TEST(Datasheet, RatiosAtAGlanceAreAtRanksThatAllHave) {
  SheetOptions options;
  options.ranks = {2, 8, 64};
  options.bytes = {Bytes(8), Bytes(4096)};
  const std::vector<Datasheet> sheets{sheet_of(shipped("sparc-ethernet.toml"), options),
                                      sheet_of(shipped("cray-t3d.toml"), options)};
  EXPECT_EQ(analysis::common_ranks(sheets), 8);  // eight workstations
  const SheetDocument document = comparison_document(sheets, 0, SheetExtent::full);
  // 30 / (2000 + 8 / 4)
  EXPECT_EQ(cell(document, "send", "8 B", "B / A"), "0.01499");
  // bcast, 4096 B: (100 + 2 * 8 + 0.2 ln 8 * 512) / (2000 + 700 * 64 + 8 * 1024)
  EXPECT_EQ(cell(document, "bcast", "4096 B", "B / A"), "0.005982");
  // barrier: (10 + 8 ln 64) / (9000 * 64), more ranks than workstations
  EXPECT_EQ(cell(document, "barrier", "p = 64", "B / A"), "7.512e-05 *");
  std::size_t plots = 0;
  for (const SheetBlock& block : document.blocks)
    if (const auto* plot = std::get_if<Plot>(&block)) {
      ++plots;
      EXPECT_LE(plot->series.size(), plot->function == "ssend" ? 1u : 2u);
    }
  EXPECT_EQ(plots, 21u);
}

TEST(Datasheet, MachinesAreComparedAtRanksThatAllHave) {
  // 128 and 8 ranks: nothing is extrapolated unless it is asked for.
  const std::vector<machine::MachineModel> models{shipped("cray-t3d.toml"),
                                                  shipped("sparc-ethernet.toml")};
  EXPECT_EQ(analysis::common_options(models, {}).ranks, (std::vector<int>{2, 4, 8}));
  SheetOptions wanted;
  wanted.ranks = {64};
  EXPECT_EQ(analysis::common_options(models, wanted).ranks, std::vector<int>{64});
}

TEST(Datasheet, AComparisonHasAColourForEachMachine) {
  const SheetOptions options{{2, 8}, {}};
  const std::vector<Datasheet> sheets{sheet_of(shipped("sparc-ethernet.toml"), options),
                                      sheet_of(shipped("cray-t3d.toml"), options)};
  const SheetDocument document = comparison_document(sheets, 0, SheetExtent::brief);
  EXPECT_EQ(cell(document, "barrier, p = 8", "A"), "72 ms");
  EXPECT_EQ(cell(document, "latency", "A"), "-");  // neither pingpong nor recv was measured
  EXPECT_EQ(cell(document, "latency", "B"), "50.5 us");
  std::size_t cards = 0;
  for (const SheetBlock& block : document.blocks) {
    EXPECT_FALSE(std::holds_alternative<Plot>(block));
    const auto* gallery = std::get_if<SheetGallery>(&block);
    if (!gallery) continue;
    EXPECT_EQ(gallery->legend.size(), 2u);
    for (const SheetCard& card : gallery->cards)
      for (const PlotSeries& series : card.plot.series)
        EXPECT_EQ(series.label[0], series.colour == 0 ? 'A' : 'B');
    cards += gallery->cards.size();
  }
  EXPECT_EQ(cards, 21u);
}

TEST(Datasheet, ABriefSheetHasAPlotOfEachFunctionAndNoRawData) {
  machine::MachineModel model = shipped("cray-t3d.toml");
  const machine::Function bcast = model.functions.at("bcast");
  for (int i = 0; i < 83; ++i) {
    machine::Function another = bcast;
    another.name = "bcast_" + std::to_string(i);
    model.functions.emplace(another.name, another);
  }
  std::vector<SheetSample> samples;
  for (const std::uint64_t d : {8, 64, 4096}) samples.push_back({"bcast", 2, Bytes(d), 1e-4});
  const Datasheet sheet = sheet_of(model, {}, samples);
  EXPECT_EQ(sheet.ranks.size(), 3u);  // of a hundred functions; of a few five
  EXPECT_EQ(sheet_of(shipped("cray-t3d.toml")).ranks.size(), 5u);
  const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::brief);
  std::size_t cards = 0;
  for (const SheetBlock& block : document.blocks) {
    EXPECT_FALSE(std::holds_alternative<Plot>(block));
    if (const auto* table = std::get_if<SheetTable>(&block)) {
      EXPECT_FALSE(table->raw);
    }
    if (const auto* gallery = std::get_if<SheetGallery>(&block)) cards += gallery->cards.size();
  }
  EXPECT_EQ(cards, sheet.functions.size());
  const std::string paper = render_latex_datasheet(document);
  EXPECT_THAT(paper, HasSubstr("\\textbf{\\footnotesize bcast\\_82}"));
  // Of plots that the terminal does not show nothing is said there.
  EXPECT_THAT(paper, HasSubstr("Lines are the equations"));
  EXPECT_THAT(render_text_datasheet(document), Not(HasSubstr("Lines are the equations")));
  EXPECT_THAT(render_text_datasheet(document), Not(HasSubstr("\nFunctions\n")));
}

TEST(Datasheet, AWideBandDoesNotFlattenTheCurve) {
  Plot plot{"t", "bytes", "time", true, {{"t", false, 0, {{{1, 1, 1e-9, 1e9}, {8, 2, 1, 3}}}}},
            "t"};
  const Axis axis = y_axis(plot, 0, 1);
  EXPECT_GT(axis.low, 0.3);
  EXPECT_LT(axis.high, 5);
}

TEST(Datasheet, PaperHoldsEveryRowOfTheRawData) {
  const machine::MachineModel model = model_of(
      "ranks = 2\ntime_unit = \"us\"\n[[function]]\nname = \"send\"\nclass = "
      "\"point-to-point\"\n[[function.regime]]\nc = 10.0\nk = 1.0\ng = \"d\"\n");
  std::vector<SheetSample> samples;
  for (std::uint64_t d = 1; d <= 301; ++d)
    samples.push_back({"send", 2, Bytes(1000 + d), 1e-6 * static_cast<double>(d)});
  const Datasheet sheet = sheet_of(model, {}, samples);
  const std::string tex = render_latex_datasheet(datasheet_document(sheet, 0, SheetExtent::full));
  for (std::uint64_t d = 1; d <= 301; ++d)
    EXPECT_THAT(tex, HasSubstr("{2} & {" + std::to_string(1000 + d) + "} & {1} &"));
  EXPECT_THAT(tex, HasSubstr("(continued)"));
}

TEST(Datasheet, PaperDrawsOperatorsThatAreBalanced) {
  const Datasheet sheet = sheet_of(shipped("cray-t3d.toml"));
  const std::string tex = render_latex_datasheet(datasheet_document(sheet, 0, SheetExtent::full)) +
                          render_latex_datasheet(datasheet_document(sheet, 0, SheetExtent::brief));
  std::size_t drawn = 0;
  for (std::size_t at = 0; (at = tex.find("\\ink{", at)) != std::string::npos; ++drawn) {
    const std::size_t begin = at + 5;
    const std::size_t end = tex.find('}', begin);
    const std::string operators = tex.substr(begin, end - begin);
    EXPECT_TRUE(operators.starts_with("q ") && operators.ends_with("Q")) << operators;
    EXPECT_EQ(operators.find_first_not_of("0123456789.- \nqQwJRGgrbBmlcfSesand/"),
              std::string::npos)
        << operators;
    at = end;
  }
  EXPECT_GT(drawn, 60u);
}

TEST(Datasheet, GnuplotFunctionsTakeTheErrorsAndTheElements) {
  const Datasheet sheet =
      sheet_of(model_of("time_unit = \"ms\"\nelement_bytes = 4\n[[function]]\nname = \"bcast\"\n"
                        "[[function.regime]]\nbytes = [0, 7]\nc = [3.0, 1.0]\n"
                        "[[function.regime]]\nbytes = [8]\nc = 0.5\ns = [2.0, 0.5]\nf = \"p^2\"\n"
                        "k = [4.0, 0.25]\ng = \"ln p d\"\n"));
  const std::string text = render_gnuplot_datasheet(sheet).front().text;
  EXPECT_THAT(text, HasSubstr("tbcast(p,d) = 0.001*(d <= 7.0 ? atleast0(3.0) : \\\n"
                              "    atleast0(0.5 + 2.0*p*p + 4.0*log(p)*d/4.0))\n"));
  EXPECT_THAT(text, HasSubstr("least_bcast(p,d) = 0.001*(d <= 7.0 ? atleast0(2.0)"));
  EXPECT_THAT(text, HasSubstr("atleast0(0.5 + 2.5*p*p + 4.25*log(p)*d/4.0))\n"));
}

// What gnuplot itself makes of the functions, against evaluate_seconds.
TEST(Datasheet, GnuplotEvaluatesTheSameTimes) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gnuplot is not installed";
  namespace fs = std::filesystem;
  for (const char* name : {"cray-t3d.toml", "sparc-ethernet.toml", "terms"}) {
    const machine::MachineModel model =
        name == std::string("terms") ? model_of(kTerms) : shipped(name);
    const fs::path folder =
        fs::path(::testing::TempDir()) / ("foretrace-gnuplot-" + std::string(name));
    fs::create_directories(folder);
    for (const NamedText& file : render_gnuplot_datasheet(sheet_of(model)))
      std::ofstream(folder / file.name) << file.text;
    std::ofstream script(folder / "ask.gp");
    script << "load 'functions.gp'\nset print 'answers'\n";
    std::vector<double> expected;
    for (const auto& [function, unused] : model.functions)
      for (const int p : {1, 2, 7, 128})
        for (const std::uint64_t d : {0, 1, 255, 256, 257, 100003}) {
          script << "print sprintf('%.17g', t" << function << "(" << p << "," << d << "))\n";
          expected.push_back(
              evaluate_seconds(model, *model.find(function), p, Bytes(d), machine::Bound::avg));
          script << "print sprintf('%.17g', most_" << function << "(" << p << "," << d << "))\n";
          expected.push_back(
              evaluate_seconds(model, *model.find(function), p, Bytes(d), machine::Bound::max));
        }
    script << "load 'bcast.gp'\n";
    script.close();
    ASSERT_EQ(std::system(("cd '" + folder.string() + "' && gnuplot ask.gp").c_str()), 0);
    std::ifstream answers(folder / "answers");
    for (const double each : expected) {
      double got = -1;
      ASSERT_TRUE(answers >> got);
      EXPECT_NEAR(got, each, 1e-12 * each);
    }
    std::stringstream picture;
    picture << std::ifstream(folder / "bcast.svg").rdbuf();
    EXPECT_THAT(picture.str(), HasSubstr("<svg"));
    fs::remove_all(folder);
  }
}

}  // namespace
}  // namespace foretrace::views
