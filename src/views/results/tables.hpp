// What studies kept, and comparisons of it, as text, CSV and JSON.
//
// Draws only; results/query.hpp and results/comparison.hpp compute.
#pragma once

#include <string>

#include "results/comparison.hpp"
#include "results/query.hpp"

namespace foretrace::views {

// Aligned columns; states (state_...) are left out where `brief`, as there are many.
std::string render_text_results(const results::Table& table, bool brief);
std::string render_csv_results(const results::Table& table);
// An array with an object for each row; nothing is null.
std::string render_json_results(const results::Table& table);

std::string render_text_summary(const results::Summary& summary);

// `a`, `b`: what the sides are called.
std::string render_text_comparison(const results::Comparison& comparison, const std::string& a,
                                   const std::string& b);
std::string render_json_comparison(const results::Comparison& comparison, const std::string& a,
                                   const std::string& b);
std::string render_csv_comparison(const results::Comparison& comparison);

// A cell for people: times with a unit.
std::string result_text(const results::Column& column, const results::Cell& cell);
// Columns of seconds: time, waits, phases, states.
bool is_time(const std::string& column);

}  // namespace foretrace::views
