#include "machine/measurement.hpp"

#include "base/whole_file.hpp"
#include "machine/measurement_toml.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
  return all;
}

}  // namespace

std::vector<std::string> read_measurement(const TableReader& reader) {
  reader.allow_only({"valid", "reasons"});
  const toml::node* valid = reader.raw().get("valid");
  if (!valid || !valid->is_boolean())
    reader.fail(valid, "'valid' must be there, and true or false");
  std::vector<std::string> reasons;
  if (const toml::array* list = reader.array("reasons"))
    for (const toml::node& node : *list) {
      const auto text = node.value_exact<std::string>();
      if (!text || text->empty()) reader.fail(&node, "'reasons' must be texts");
      reasons.push_back(*text);
    }
  if (valid->value_or(false)) {
    if (!reasons.empty())
      reader.fail(reader.raw().get("reasons"), "a valid measurement has no 'reasons'");
  } else if (reasons.empty()) {
    reader.fail(valid, "what is not valid needs 'reasons', a list of texts");
  }
  return reasons;
}

std::vector<std::string> read_invalid_reasons(const std::string& path) {
  const toml::table root = parse_toml(read_whole_file(path, "the machine model"), path);
  const toml::table* table = TableReader(root, path, "machine model").table("measurement");
  if (!table) return {};
  return read_measurement(TableReader(*table, path, "[measurement]"));
}

std::string warning_of(const std::string& path) {
  std::string reasons;
  for (const std::string& reason : read_invalid_reasons(path))
    reasons += (reasons.empty() ? "" : "; ") + reason;
  if (reasons.empty()) return "";
  return "WARNING: the measurement in " + path + " is not to be trusted: " + reasons;
}

std::string doubt_of(const std::vector<std::string>& unreliable) {
  return "INVALID in the machine model, and used all the same: " + joined(unreliable);
}

std::string refusal_of(const std::vector<std::string>& unreliable) {
  return "INVALID in the machine model: " + joined(unreliable) +
         "; measure again, put other equations into it, or give " + kAllowInvalid;
}

std::string format_measurement(const std::vector<std::string>& invalid_reasons) {
  if (invalid_reasons.empty()) return "";
  std::string reasons;
  for (const std::string& reason : invalid_reasons)
    reasons += (reasons.empty() ? "" : ", ") + quoted(reason);
  return "\n[measurement]\nvalid = false\nreasons = [" + reasons + "]\n";
}

}  // namespace foretrace::machine
