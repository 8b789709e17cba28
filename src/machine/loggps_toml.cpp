#include "machine/loggps_toml.hpp"

#include "machine/function_toml.hpp"
#include "toml_file/text.hpp"

namespace foretrace::machine {
namespace {

constexpr std::string_view kNotSeparable = "not separable";

// VALUE, [VALUE, ERROR] or "not separable".
std::optional<Parameter> read_parameter(const TableReader& reader, std::string_view key) {
  const toml::node* node = reader.raw().get(key);
  if (!node) return std::nullopt;
  if (const auto text = node->value_exact<std::string>(); text == kNotSeparable)
    return Parameter{0, 0, false};
  Parameter parameter;
  const toml::array* pair = node->as_array();
  if (!pair && node->is_number()) {
    parameter.value = reader.number_in(*node, key);
  } else if (pair && pair->size() == 2) {
    parameter.value = reader.number_in((*pair)[0], key);
    parameter.error = reader.number_in((*pair)[1], key);
  } else {
    reader.fail(node, "'" + std::string(key) + "' must be VALUE, [VALUE, ERROR] or \"" +
                          std::string(kNotSeparable) + "\"");
  }
  if (parameter.value < 0 || parameter.error < 0)
    reader.fail(node, "'" + std::string(key) + "' must not be negative");
  return parameter;
}

std::optional<double> read_share(const TableReader& reader, std::string_view key) {
  const auto share = reader.non_negative(key);
  if (share && *share > 1)
    reader.fail(reader.raw().get(key), "'" + std::string(key) + "' is a share of 0 to 1");
  return share;
}

// --loggps has other names for some.
void refuse_words_of_the_option(const TableReader& reader) {
  for (const char* key : {"o", "os", "or"})
    if (const toml::node* node = reader.raw().get(key))
      reader.fail(node, "unknown key '" + std::string(key) +
                            "'; here the overheads are called o_s (of a send) and o_r (of a "
                            "receive), in seconds");
}

LogGPSRegime read_loggps_regime(const TableReader& reader) {
  refuse_words_of_the_option(reader);
  reader.allow_only({"bytes", "L", "o_s", "o_r", "g", "G", "overlap_send", "overlap_recv"});
  LogGPSRegime regime;
  read_interval(reader, regime.from, regime.to);
  regime.latency = read_parameter(reader, "L");
  regime.overhead_send = read_parameter(reader, "o_s");
  regime.overhead_recv = read_parameter(reader, "o_r");
  regime.gap = read_parameter(reader, "g");
  regime.gap_per_byte = read_parameter(reader, "G");
  regime.overlap_send = read_share(reader, "overlap_send");
  regime.overlap_recv = read_share(reader, "overlap_recv");
  return regime;
}

std::string parameter_text(const Parameter& parameter) {
  if (!parameter.separable) return quoted(std::string(kNotSeparable));
  return "[" + number(parameter.value) + ", " + number(parameter.error) + "]";
}

void put(std::string& out, const char* key, const std::optional<double>& value) {
  if (value) out += std::string(key) + " = " + number(*value) + "\n";
}

void put(std::string& out, const char* key, const std::optional<Parameter>& value) {
  if (value) out += std::string(key) + " = " + parameter_text(*value) + "\n";
}

}  // namespace

void read_loggps(const toml::table& table, const std::string& file, const std::string& prefix,
                 PathModel& model) {
  const TableReader reader(table, file, "[" + prefix + "loggps]");
  refuse_words_of_the_option(reader);
  reader.allow_only({"L", "o_s", "o_r", "g", "G", "S", "P", "regime"});
  LogGPS& loggps = model.loggps;
  loggps.latency = reader.non_negative("L");
  loggps.overhead_send = reader.non_negative("o_s");
  loggps.overhead_recv = reader.non_negative("o_r");
  loggps.gap = reader.non_negative("g");
  loggps.gap_per_byte = reader.non_negative("G");
  loggps.sync_threshold = reader.bytes("S");
  loggps.attended_from = reader.bytes("P");
  const toml::array* regimes = reader.array("regime");
  if (!regimes) return;
  for (const toml::node& node : *regimes) {
    if (!node.is_table()) reader.fail(&node, "'regime' must be a table");
    const LogGPSRegime regime =
        read_loggps_regime(TableReader(*node.as_table(), file, "[[" + prefix + "loggps.regime]]"));
    if (!model.loggps_regimes.empty()) {
      const Bytes previous = model.loggps_regimes.back().to;
      if (previous.count == UINT64_MAX || regime.from.count != previous.count + 1)
        reader.fail(&node,
                    "the regimes must follow each other: this one has to begin one byte after the "
                    "end of the one before");
    }
    model.loggps_regimes.push_back(regime);
  }
}

HopParameters read_hop(const TableReader& reader) {
  reader.allow_only({"i", "t"});
  const auto startup = read_parameter(reader, "i");
  const auto per_byte = read_parameter(reader, "t");
  if (!startup || !per_byte) reader.fail(nullptr, "needs 'i' and 't'");
  return {*startup, *per_byte};
}

std::string format_loggps(const PathModel& model, const std::string& prefix) {
  const LogGPS& loggps = model.loggps;
  std::string body;
  put(body, "L", loggps.latency);
  put(body, "o_s", loggps.overhead_send);
  put(body, "o_r", loggps.overhead_recv);
  put(body, "g", loggps.gap);
  put(body, "G", loggps.gap_per_byte);
  if (loggps.sync_threshold) body += "S = " + std::to_string(loggps.sync_threshold->count) + "\n";
  if (loggps.attended_from) body += "P = " + std::to_string(loggps.attended_from->count) + "\n";
  for (const LogGPSRegime& regime : model.loggps_regimes) {
    body += "[[" + prefix + "loggps.regime]]\n" + format_interval(regime.from, regime.to);
    put(body, "L", regime.latency);
    put(body, "o_s", regime.overhead_send);
    put(body, "o_r", regime.overhead_recv);
    put(body, "g", regime.gap);
    put(body, "G", regime.gap_per_byte);
    put(body, "overlap_send", regime.overlap_send);
    put(body, "overlap_recv", regime.overlap_recv);
  }
  if (!body.empty()) body = "\n[" + prefix + "loggps]\n" + body;
  if (model.hop)
    body += "\n[" + prefix + "hop]\ni = " + parameter_text(model.hop->startup) +
            "\nt = " + parameter_text(model.hop->per_byte) + "\n";
  return body;
}

}  // namespace foretrace::machine
