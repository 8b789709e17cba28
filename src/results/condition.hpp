// Conditions over named values, in the words of SQL: "p <= n and machine = 't3d'". The same
// language leaves points out of a study and picks rows of its results.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "results/database.hpp"

namespace foretrace::results {

class Condition {
 public:
  // `names`: what values() gives, in that order. Throws UsageError that begins with `what`.
  Condition(const std::string& text, const std::vector<std::string>& names,
            const std::string& what);
  ~Condition();
  Condition(Condition&&) noexcept;

  bool holds(const std::vector<Cell>& values);

 private:
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> statement_;
};

}  // namespace foretrace::results
