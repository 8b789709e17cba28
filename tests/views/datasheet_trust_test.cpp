// What a data sheet says of how far to trust it: errors, states, thresholds, LogGPS by regime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/machine_file.hpp"
#include "views/datasheet/datasheet.hpp"

namespace foretrace::views {
namespace {

using analysis::Datasheet;
using analysis::SheetSource;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModel = R"([machine]
name = "m"
ranks = 8
time_unit = "us"
[[loggps.regime]]
bytes = [0, 4040]
L = "not separable"
o_s = [3.5e-7, 2e-8]
G = [1.5e-10, 1e-11]
overlap_send = 0.9
[[function]]
name = "bcast"
class = "collective"
measured_ranks = [2, 4, 8]
measured_bytes = [8, 65536]
held_out = [0.012, 0.056]
baseline_held_out = [0.16, 0.76]
extrapolation_error = 0.2
[[function.regime]]
bytes = [0]
terms = { "1" = [1.5, 0.1], "ceil log2 p" = [2.0, 0.1], "d" = [0.001, 0.0001] }
interval = [0.9, 1.25]
coverage = 0.95
[[function.baseline]]
bytes = [0]
c = [1.0, 0.1]
chi_squared = 12.5
degrees_of_freedom = 10
q = 0.25
)";

Datasheet sheet_with(SheetSource source, const std::string& model = kModel) {
  return make_datasheet(machine::parse_machine(model, "m.toml"), source,
                        {{}, {Bytes(8), Bytes(500), Bytes(65536), Bytes(65537)}});
}

std::string text_of(const Datasheet& sheet) {
  return render_text_datasheet(datasheet_document(sheet, 0, SheetExtent::full));
}

TEST(DatasheetTrust, ErrorsStandBesideThoseOfThePapersForms) {
  const std::string text = text_of(sheet_with({}));
  EXPECT_THAT(text, ContainsRegex("bcast +1.2 % +5.6 % +16.0 % +76.0 % +20.0 %\n"));
  EXPECT_THAT(text, HasSubstr("made to hold 95.0 % of measured times."));
  // Without samples nobody knows how many blocks were kept: no such column.
  EXPECT_THAT(text, Not(HasSubstr("blocks kept")));
  EXPECT_THAT(text, HasSubstr("(1.00 +/- 0.10)    12.5 / 10  0.25"));
  EXPECT_THAT(text, HasSubstr("Measured with p = 2, 4, 8, 8 B to 64 KiB."));
  EXPECT_THAT(text, HasSubstr("intervals in which measured times are expected"));
  // 1.5 + 2 * 2 + 0.5 = 6 us: 5.4 to 7.5
  EXPECT_THAT(text, ContainsRegex("4 +500 +5.4 us +6 us +7.5 us"));
}

TEST(DatasheetTrust, ParametersThatCannotBeToldApartSaySo) {
  const std::string text = text_of(sheet_with({}));
  EXPECT_THAT(text, ContainsRegex("L +not separable\n +o_s +0.35 \\+/- 0.02 us\n"));
  EXPECT_THAT(text, ContainsRegex("G +0.150 \\+/- 0.010 ns/B\n +the sender can compute +90.0 %\n"));
}

TEST(DatasheetTrust, TheMeasurementsOwnFactsAreShown) {
  SheetSource source;
  source.facts = {{"host", "laptop"},
                  {"half_width", "0.021"},
                  {"sync_threshold", "4041"},
                  {"local_threshold", "256"},
                  {"local_threshold_seen", "256 256 255"},
                  {"jumps_bcast", "64 4040"},
                  {"launch_1_bounce", "3.8e-8"},
                  {"launch_1_bounce_after", "1.79e-7"},
                  {"launch_1_state", "left out: cache line 38 ns, changed meanwhile"},
                  {"launch_2_bounce", "4e-8"},
                  {"launch_2_bandwidth", "1.15e10"},
                  {"launch_2_state", "used"},
                  {"something_new", "7"}};
  source.samples = {{"bcast", 2, Bytes(8), 3e-6, true}, {"bcast", 2, Bytes(8), 9e-6, false}};
  const std::string text = text_of(sheet_with(source));
  EXPECT_THAT(text, ContainsRegex("host +laptop"));
  EXPECT_THAT(text, ContainsRegex("half width of the intervals over launches +2.1 %"));
  EXPECT_THAT(text,
              ContainsRegex("1 +left out: cache line 38 ns, changed meanwhile +38 ns, 179 ns"));
  EXPECT_THAT(text, ContainsRegex("2 +used +40 ns +11.5 GB/s"));
  EXPECT_THAT(text, ContainsRegex("\\(S\\) +4041 B"));
  EXPECT_THAT(text, ContainsRegex("receiver outside MPI +256 B +256 256 255"));
  EXPECT_THAT(text, ContainsRegex("the time of bcast jumps after +64 4040 B"));
  EXPECT_THAT(text, ContainsRegex("something_new +7"));
  EXPECT_THAT(text, ContainsRegex("switched out +1 of 2 \\(50.0 %\\)"));
  EXPECT_THAT(text, Not(HasSubstr("Invalid")));
}

TEST(DatasheetTrust, InvalidFunctionsAreMarkedWhereverTheyStand) {
  SheetSource source;
  source.facts = {{"invalid", "send bcast"}, {"oversubscribed", "yes"}};
  const std::string text = text_of(sheet_with(source));
  EXPECT_THAT(text, AllOf(HasSubstr("survived: send bcast."), HasSubstr("more ranks than cores"),
                          HasSubstr("Invalid: too little of what was measured survived.")));
  EXPECT_THAT(text, ContainsRegex("bcast \\(invalid\\) +3.508 us"));
  EXPECT_THAT(text, ContainsRegex("bcast \\(invalid\\) +1.2 %"));
}

// The first line of a text that holds `part`; the number of its lines if there is none.
std::size_t line_of(const std::string& text, const std::string& part) {
  return static_cast<std::size_t>(std::count(
      text.begin(),
      text.begin() + static_cast<std::ptrdiff_t>(std::min(text.find(part), text.size())), '\n'));
}

TEST(DatasheetTrust, WarningsStandAboveEverything) {
  SheetSource source;
  source.facts = {{"invalid", "send"}, {"oversubscribed", "yes"}};
  source.invalid_reasons = {"there were more ranks than cores", "it was dark"};
  for (int i = 0; i < 10; ++i) source.samples.push_back({"bcast", 2, Bytes(8), 3e-6, i < 8});
  const Datasheet sheet = sheet_with(source);
  for (const SheetExtent extent : {SheetExtent::brief, SheetExtent::full}) {
    const std::string text = render_text_datasheet(datasheet_document(sheet, 0, extent));
    for (const char* warning :
         {"not to be trusted: there were more ranks than cores; it was dark.",
          "WARNING: There were more ranks", "WARNING: Invalid", "WARNING: In only 80.0 %"})
      EXPECT_LT(line_of(text, warning), line_of(text, "In short")) << warning;
  }
  const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::brief);
  EXPECT_THAT(render_latex_datasheet(document), HasSubstr("\\textbf{Warning.} The measurement"));
  EXPECT_THAT(render_html_datasheet(document, {}), HasSubstr("<p class=\"warning\">Invalid"));
  EXPECT_THAT(text_of(sheet_with({})), Not(HasSubstr("WARNING")));
}

TEST(DatasheetTrust, WhatEverybodyLooksForStandsFirst) {
  const std::string model =
      "[machine]\nname = \"m\"\nranks = 8\ntime_unit = \"us\"\n[compute]\nstep = 2e-9\n"
      "[loggps]\nS = 4096\n[[function]]\nname = \"pingpong\"\nclass = \"point-to-point\"\n"
      "measured_ranks = [2]\nmeasured_bytes = [0, 65536]\nheld_out = [0.02, 0.1]\n"
      "[[function.regime]]\nc = 4.0\nk = 0.001\ng = \"d\"\n[[function]]\nname = \"barrier\"\n"
      "class = \"barrier\"\nheld_out = [0.04, 0.1]\n[[function.regime]]\ns = 2.0\nf = \"p\"\n";
  SheetSource source;
  source.facts = {{"local_threshold", "256"}};
  const Datasheet sheet = sheet_with(source, model);
  const std::string text = render_text_datasheet(datasheet_document(sheet, 0, SheetExtent::brief));
  EXPECT_LT(line_of(text, "In short"), line_of(text, "Run parameters"));
  // (4 + 0.001 * 8) / 2 us; 65536 B in (4 + 65.536) / 2 us
  EXPECT_THAT(text, ContainsRegex("latency +2.004 us +half of pingpong, 8 B"));
  EXPECT_THAT(text, ContainsRegex("bandwidth +1.88 GB/s +half of pingpong, 64 KiB"));
  EXPECT_THAT(text, ContainsRegex("waits for its receive +from 4096 B on"));
  EXPECT_THAT(text, ContainsRegex("complete without one +up to 256 B"));
  EXPECT_THAT(text, ContainsRegex("compute step +2 ns"));
  EXPECT_THAT(text, ContainsRegex("error of the equations +3.0 % .*most 4.0 % .barrier"));
  EXPECT_THAT(text, ContainsRegex("time +p = 2 +p = 4 +p = 8\n +barrier +4 us +8 us +16 us"));
}

TEST(DatasheetTrust, DisturbedSamplesCountOnlyWhereThereIsNoOther) {
  SheetSource source;
  source.samples = {{"bcast", 2, Bytes(8), 3e-6, true},
                    {"bcast", 2, Bytes(8), 9e-6, false},
                    {"bcast", 2, Bytes(16), 8e-6, false}};
  const Datasheet sheet = sheet_with(source);
  const auto& points = sheet.find("bcast")->measured;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].median, 3e-6);
  EXPECT_FALSE(points[0].disturbed);
  EXPECT_EQ(points[1].median, 8e-6);
  EXPECT_TRUE(points[1].disturbed);
}

TEST(DatasheetTrust, WhatTheModelSaysWasMeasuredDecidesWhatIsExtrapolated) {
  SheetSource source;
  source.samples = {{"bcast", 2, Bytes(8), 3e-6, true}};
  const Datasheet sheet = sheet_with(source);
  for (const analysis::SheetTime& time : sheet.find("bcast")->times)
    EXPECT_EQ(time.beyond, time.bytes > Bytes(65536)) << time.ranks << " " << time.bytes.count;
}

TEST(DatasheetTrust, SurfacesAreOfSeveralRanksOnPaperAlone) {
  const Datasheet sheet = sheet_with({});
  const SheetDocument document = datasheet_document(sheet, 0, SheetExtent::full);
  EXPECT_THAT(render_latex_datasheet(document), HasSubstr("bcast over ranks and sizes"));
  EXPECT_THAT(render_latex_datasheet(document), HasSubstr("\\clearpage"));
  const std::string barrier =
      "[machine]\nname = \"m\"\nranks = 8\n[[function]]\nname = \"barrier\"\nclass = \"barrier\"\n"
      "[[function.regime]]\nbytes = [0]\nc = 1.0\ns = 2.0\nf = \"p\"\n";
  EXPECT_THAT(
      render_latex_datasheet(datasheet_document(sheet_with({}, barrier), 0, SheetExtent::full)),
      Not(HasSubstr("over ranks and sizes")));
}

TEST(DatasheetTrust, KernelsHaveATable) {
  SheetSource source;
  source.computation.kernels = {{"sqrt", {1.45e-9, {}}}, {"stream-l1", {2.14e-10, {}}}};
  const std::string text = text_of(sheet_with(source));
  EXPECT_THAT(text, ContainsRegex("sqrt +1.45 ns\n +stream-l1 +214 ps"));
  EXPECT_THAT(text_of(sheet_with({})), Not(HasSubstr("Computation")));
  // With a column for each number of ranks that compute at once.
  source.computation.kernels = {{"exp", {3e-9, {}}},
                                {"sqrt", {2e-9, {{1, 1e-9}, {4, 2e-9}}}},
                                {"stream", {8e-9, {{1, 3e-9}, {2, 5e-9}, {4, 8e-9}}}}};
  const std::string by_ranks = text_of(sheet_with(source));
  EXPECT_THAT(by_ranks, ContainsRegex("exp +3 ns\n"));
  EXPECT_THAT(by_ranks, ContainsRegex("ranks that compute on a node +1 +2 +4\n"));
  EXPECT_THAT(by_ranks, ContainsRegex("sqrt +1 ns +2 ns\n"));
  EXPECT_THAT(by_ranks, ContainsRegex("stream +3 ns +5 ns +8 ns\n"));
}

// A row for each type, a column for each operation that there is.
TEST(DatasheetTrust, ReductionsHaveATable) {
  const std::string model = std::string(kModel) +
                            "\n[reduction]\nsum_double = \"0.1ns\"\nbit_int8 = \"0.25ns\"\n"
                            "sum_int8 = \"0.5ns\"\nother = \"3ns\"\n";
  const std::string text = text_of(sheet_with({}, model));
  EXPECT_THAT(text, ContainsRegex("ns/B +sum +bit\n +double +0.100\n +int8 +0.500 +0.250\n"));
  EXPECT_THAT(text, HasSubstr("Others take 3.00. "));
  EXPECT_THAT(text_of(sheet_with({})), Not(HasSubstr("Reductions")));
}

TEST(DatasheetTrust, CoefficientsAndTheirErrorsEndAtTheSamePlace) {
  machine::Equation equation;
  equation.constant = {1e-5, 0.00104};
  equation.data = {1e-4, 1e-6};
  EXPECT_EQ(format_equation(equation, 0), "(0.0000 ± 0.0010) + (0.0001000 ± 0.0000010) × d");
}

TEST(DatasheetTrust, AQNearNothingHasNoFalsePrecision) {
  std::string model = kModel;
  model.replace(model.find("q = 0.25"), 8, "q = 1e-241");
  const std::string text = text_of(sheet_with({}, model));
  EXPECT_THAT(text, HasSubstr("< 1e-06"));
  EXPECT_THAT(text, Not(HasSubstr("241")));
}

TEST(DatasheetTrust, ThePageGetsEveryTerm) {
  const Datasheet sheet = sheet_with({});
  const std::string json = datasheet_json({&sheet, 1});
  EXPECT_THAT(json,
              HasSubstr(R"("terms":[["1",1.5,0.1],["ceil log2 p",2.0,0.1],["d",0.001,0.0001]])"));
  EXPECT_THAT(json, HasSubstr(R"("interval":[0.9,1.25])"));
  EXPECT_THAT(json, HasSubstr(R"("extrapolation_error":0.2)"));
  EXPECT_THAT(json, HasSubstr(R"("measured":{"ranks":[2,8],"bytes":[8,65536]})"));
}

}  // namespace
}  // namespace foretrace::views
