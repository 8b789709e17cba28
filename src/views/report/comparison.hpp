// What `foretrace compare` prints: the tables A, B and C of Howell's thesis, section
// 2.4.1, as text, JSON or a page. Draws only; analysis/compare.hpp and compare_groups.hpp compute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare.hpp"
#include "analysis/compare_groups.hpp"

namespace foretrace::views {

// Program times, the first difference if there is one, and the table of
// `level`. Texts end with a newline. A ratio x/0 is "inf" in text, null in
// JSON.
std::string render_text_comparison(const analysis::Comparison& comparison,
                                   analysis::CompareLevel level);
std::string render_json_comparison(const analysis::Comparison& comparison,
                                   analysis::CompareLevel level);

// The same of several runs against several: means, and where they lie. Not at level `events`.
std::string render_text_groups(const analysis::GroupComparison& both, analysis::CompareLevel level);
std::string render_json_groups(const analysis::GroupComparison& both, analysis::CompareLevel level);

// As a page, one file without any outside address. `timeline`: the address of the page with the
// time lines of both sides, to which the tables lead; empty: there is none.
std::string render_html_comparison(const analysis::GroupComparison& both,
                                   const std::string& timeline);

// A part of a page that has comparison_style().
std::string render_comparison_part(const analysis::GroupComparison& both);
std::string_view comparison_style();

// What texts and the page have in common: lines by their difference, the greatest first, without
// what takes no time; "+1.5 ms"; how many lines differ by more than their scatter, in words.
std::vector<analysis::GroupLine> by_difference(const std::vector<analysis::GroupLine>& lines);
std::string difference_text(double ps);
std::string chance_note(const std::vector<analysis::GroupLine>& lines);
// "5 runs: record, wall clock".
std::string describe_group(const analysis::RunGroup& runs);
// Sentences on what is not whole, or differs within a side.
std::vector<std::string> group_notes(const analysis::GroupComparison& both);

}  // namespace foretrace::views
