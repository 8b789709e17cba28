// TableReader: typed access to one TOML table, for the readers of this part.
//
// Every fault becomes Error "FILE:LINE: TABLE: what is wrong; what to do". It
// knows TOML and nothing of machines; what the keys mean is the caller's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/time_text.hpp"
#include "toml_file/toml.hpp"

namespace foretrace::machine {

// toml++ goes one call deeper for each part of a key, without a limit. Throws Error "FILE:LINE:
// ..." where a key has more of them than anybody writes.
inline void check_keys(std::string_view text, const std::string& name) {
  constexpr int kMostParts = 1000;
  int dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && ++dots == kMostParts) {
      const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
      throw Error(name + ":" + std::to_string(line) + ": a key of more than " +
                  std::to_string(kMostParts) + " parts");
    }
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) {
      dots = 0;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      dots = 0;
    } else if (c == '"' || c == '\'') {  // a text, or a part of a key
      const std::string three(3, c);
      const bool is_long = text.substr(at).starts_with(three);
      const std::string_view end = std::string_view(three).substr(is_long ? 0 : 2);
      at += end.size();
      while (at < text.size() && !text.substr(at).starts_with(end) && (is_long || text[at] != '\n'))
        at += c == '"' && text[at] == '\\' ? 2 : 1;
      at += end.size() - 1;
    }
  }
}

// The file's root table; `name` stands for the file. Throws Error "FILE:LINE: ...".
inline toml::table parse_toml(std::string_view text, const std::string& name) {
  check_keys(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    const std::string why(error.description());
    const bool open = why.find("unescaped control characters") != std::string::npos;
    throw Error(name + ":" + std::to_string(error.source().begin.line) + ": " + why +
                (open ? "; has the text no closing quote?" : ""));
  }
}

// Reads one table: typed access, and at the end every key must have been asked
// for, so that a typo is an error and not a default.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string file, std::string where)
      : table_(table), file_(std::move(file)), where_(std::move(where)) {}

  [[noreturn]] void fail(const toml::node* node, const std::string& message) const {
    const auto line = (node ? node->source() : table_.source()).begin.line;
    throw Error(file_ + ":" + std::to_string(line) + ": " + where_ + ": " + message);
  }

  void allow_only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(keys, key.str()) != keys.end()) continue;
      std::string known;
      for (std::string_view k : keys) known += (known.empty() ? "" : ", ") + std::string(k);
      fail(&node, "unknown key '" + std::string(key.str()) + "'; known here: " + known);
    }
  }

  std::optional<std::string> text(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value_exact<std::string>();
    if (!value) fail(node, "'" + std::string(key) + "' must be a string");
    return *value;
  }

  std::optional<double> number(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    return number_in(*node, key);
  }

  double number_in(const toml::node& node, std::string_view key) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value))
      fail(&node, "'" + std::string(key) + "' must be a finite number");
    return *value;
  }

  std::optional<double> non_negative(std::string_view key) const {
    const auto value = number(key);
    if (value && *value < 0)
      fail(table_.get(key), "'" + std::string(key) + "' must not be negative");
    return value;
  }

  // A number of seconds, or a text such as "1.2ns"; 0 or more.
  std::optional<double> seconds(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    return seconds_in(*node, key);
  }

  double seconds_in(const toml::node& node, std::string_view key) const {
    std::optional<double> value;
    if (const auto text = node.value_exact<std::string>())
      value = parse_seconds(*text);
    else if (node.is_number())
      value = number_in(node, key);
    if (!value || *value < 0)
      fail(&node, "'" + std::string(key) +
                      "' must be a time, 0 or more: a text such as \"1.2ns\", or seconds");
    return *value;
  }

  std::optional<Bytes> bytes(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    return bytes_in(*node, key);
  }

  Bytes bytes_in(const toml::node& node, std::string_view key) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0)
      fail(&node, "'" + std::string(key) + "' must be a whole number of bytes, 0 or more");
    return Bytes(static_cast<std::uint64_t>(*value));
  }

  const toml::array* array(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return nullptr;
    if (!node->is_array()) fail(node, "'" + std::string(key) + "' must be an array");
    return node->as_array();
  }

  const toml::table* table(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (!node) return nullptr;
    if (!node->is_table()) fail(node, "'" + std::string(key) + "' must be a table");
    return node->as_table();
  }

  const toml::table& raw() const { return table_; }
  const std::string& file() const { return file_; }

 private:
  const toml::table& table_;
  std::string file_;
  std::string where_;
};

}  // namespace foretrace::machine
