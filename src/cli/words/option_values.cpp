#include "cli/words/option_values.hpp"

#include "base/error.hpp"
#include "base/size_text.hpp"
#include "cli/words/named_files.hpp"

namespace foretrace::cli {
namespace {

CLI::Validator name_of_file(Named kind, const char* type) {
  return {[kind](std::string& text) {
            try {
              text = find_named(kind, text);
            } catch (const UsageError& error) {
              return std::string(error.what());
            }
            return std::string();
          },
          type};
}

}  // namespace

CLI::Validator size_in_bytes() {
  return {[](std::string& text) {
            const auto size = parse_size(text);
            if (!size) return "expected a size such as 2048 or 64k, found " + text;
            text = std::to_string(*size);
            return std::string();
          },
          "SIZE"};
}

CLI::Validator offers(const std::string& words) {
  return {[](std::string&) { return std::string(); }, "{" + words + "}"};
}

CLI::Validator machine_name() {
  return name_of_file(Named::machine, "MACHINE");
}

CLI::Validator topology_name() {
  return name_of_file(Named::topology, "TOPOLOGY");
}

CLI::Validator topology_or_architecture_name() {
  const CLI::Validator topology = topology_name();
  return {[topology](std::string& text) {
            for (const NamedFile& file : named_files(Named::architecture))
              if (file.name == text) text = file.path;
            return topology(text);
          },
          "TOPOLOGY"};
}

CLI::Validator model_name() {
  return name_of_file(Named::model, "MODEL");
}

}  // namespace foretrace::cli
