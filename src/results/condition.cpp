#include "results/condition.hpp"

#include "base/error.hpp"

namespace foretrace::results {

Condition::Condition(const std::string& text, const std::vector<std::string>& names,
                     const std::string& what)
    : database_(std::make_unique<Database>(what, Database::Mode::memory)) {
  std::string values;
  for (std::size_t i = 0; i < names.size(); ++i)
    values += (i ? ", ?" : "?") + std::to_string(i + 1) + " AS " + quoted_name(names[i]);
  // Each on a line of its own, as a comment at the end of the text would hide the rest.
  statement_ = std::make_unique<Statement>(
      *database_, "SELECT (\n" + text + "\n) FROM (SELECT " + (values.empty() ? "1" : values) + ")",
      Written{what, names});
  if (statement_->columns() != 1) throw UsageError(what + ": one condition is expected");
  database_->allow_reading_only();
}

Condition::~Condition() = default;
Condition::Condition(Condition&&) noexcept = default;

bool Condition::holds(const std::vector<Cell>& values) {
  statement_->reset();
  for (std::size_t i = 0; i < values.size(); ++i)
    statement_->bind(static_cast<int>(i + 1), values[i]);
  return statement_->step() && statement_->whole(0) != 0;
}

}  // namespace foretrace::results
