// The tables of a database of results (docs/results.md).
//
// Private to src/results but for the names of the fixed columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/database.hpp"

namespace foretrace::results {

inline constexpr int kSchemaVersion = 1;
// The times of phases are in columns whose names begin so.
inline constexpr std::string_view kPhase = "phase_";

// Columns of `launches` that every study has; parameters and quantities may not have these names.
const std::vector<std::string>& fixed_columns();

// As names are compared.
std::string lower(std::string_view text);

// Whether a parameter or quantity may be called so: a letter, then letters, digits and "_", at most
// 64, none of the fixed columns; case does not count.
bool is_column_name(std::string_view name);

// "PREFIX" and NAME with "_" for any character that is not a letter or a digit.
std::string column_of(const std::string& prefix, const std::string& name);

// Makes the tables where there are none. Throws Error for another program's database, and for a
// later version of the schema.
void prepare_schema(Database& database);
// The same without making any.
void check_schema(const Database& database);

// Columns of `launches` beyond the fixed ones, in the order in which they came.
struct Columns {
  std::vector<std::string> parameters;
  std::vector<std::string> quantities;
};
Columns read_columns(const Database& database);

}  // namespace foretrace::results
