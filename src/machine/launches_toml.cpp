#include "machine/launches_toml.hpp"

#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

std::vector<double> factors(const TableReader& reader, const char* key) {
  std::vector<double> out;
  const toml::array* array = reader.array(key);
  if (!array || array->empty())
    reader.fail(reader.raw().get(key), "'" + std::string(key) + "' must be a list of numbers");
  for (const toml::node& node : *array) {
    out.push_back(reader.number_in(node, key));
    if (!(out.back() > 0))
      reader.fail(&node, "'" + std::string(key) + "' holds multiples of times, all above 0");
  }
  return out;
}

}  // namespace

std::vector<LaunchFactors> read_launches(const TableReader& reader) {
  reader.allow_only({"calls", "computation"});
  const std::vector<double> calls = factors(reader, "calls");
  const std::vector<double> computation = factors(reader, "computation");
  if (calls.size() != computation.size())
    reader.fail(reader.raw().get("computation"),
                "'calls' and 'computation' must be equally long: one number for each launch");
  std::vector<LaunchFactors> launches;
  for (std::size_t i = 0; i < calls.size(); ++i) launches.push_back({calls[i], computation[i]});
  return launches;
}

std::string format_launches(const std::vector<LaunchFactors>& launches) {
  if (launches.empty()) return {};
  std::string calls, computation;
  for (const LaunchFactors& launch : launches) {
    calls += (calls.empty() ? "" : ", ") + number(launch.calls);
    computation += (computation.empty() ? "" : ", ") + number(launch.computation);
  }
  return "\n[launches]  # each launch's times as multiples of those below\ncalls = [" + calls +
         "]\ncomputation = [" + computation + "]\n";
}

}  // namespace foretrace::machine
