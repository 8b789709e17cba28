#include "formulas/model_file.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "formulas/builtin.hpp"

namespace foretrace::formulas {
namespace {

constexpr std::string_view kDrawing[] = {"set",   "unset", "plot", "splot", "replot",
                                         "pause", "reset", "load", "call",  "print"};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : tokens_(split(text, file)) {
    model_.file = file;
  }

  ModelFile run() {
    while (at_ < tokens_.size()) statement();
    return std::move(model_);
  }

 private:
  const Token& token() const { return tokens_[at_]; }
  bool is_sign(std::string_view sign) const {
    return token().kind == Token::Kind::sign && token().text == sign;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(model_.file + ":" + std::to_string(token().line) + ": " + message);
  }

  void statement() {
    if (token().kind == Token::Kind::end_of_statement) {
      ++at_;
      return;
    }
    if (token().kind != Token::Kind::name)
      fail("expected NAME = ... or NAME(p,...) = ..., found '" + token().text + "'");
    Definition definition;
    definition.name = token().text;
    definition.line = token().line;
    ++at_;
    if (is_sign("(")) arguments(definition);
    if (!is_sign("="))
      fail("expected '=' behind '" + definition.name + "', as in " + definition.name + " = ...");
    refuse_reserved(definition);
    ++at_;
    definition.body = parse_expression(tokens_, at_, model_.file);
    if (token().kind != Token::Kind::end_of_statement)
      fail("expected the end of the line, found '" + token().text + "'");
    ++at_;
    if (!model_.find(definition.name)) model_.order.push_back(definition.name);
    model_.definitions[definition.name] = std::move(definition);
  }

  void arguments(Definition& definition) {
    definition.is_function = true;
    do {
      ++at_;
      if (token().kind != Token::Kind::name) fail("expected the name of an argument");
      if (std::ranges::count(definition.arguments, token().text) != 0)
        fail("two arguments are called '" + token().text + "'");
      definition.arguments.push_back(token().text);
      ++at_;
    } while (is_sign(","));
    if (!is_sign(")")) fail("expected ')' behind the arguments of '" + definition.name + "'");
    ++at_;
  }

  void refuse_reserved(const Definition& definition) const {
    const std::string& name = definition.name;
    if (name.starts_with("T_"))
      fail("'" + name + "': names that begin with T_ are the machine's; choose another");
    if (find_builtin(name) || name == "pi" || name == "sum")
      fail("'" + name + "' is gnuplot's own; choose another name");
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  ModelFile model_;
};

// Lines that only draw become empty, so that the others keep their numbers.
std::string without_drawing(std::string_view text) {
  std::string out;
  bool drawing = false;  // the line before goes on here
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string_view word =
        first == std::string_view::npos
            ? ""
            : line.substr(first, line.find_first_of(" \t\r[", first) - first);
    std::string_view behind = word.empty() ? "" : line.substr(first + word.size());
    while (behind.starts_with(' ')) behind.remove_prefix(1);
    if (!drawing)
      drawing = std::ranges::find(kDrawing, word) != std::end(kDrawing) && !behind.starts_with('=');
    if (!drawing) out += line;
    const std::size_t last = line.find_last_not_of(" \t\r");
    drawing = drawing && last != std::string_view::npos && line[last] == '\\';
    out += '\n';
  }
  return out;
}

void collect_names(const Node& node, std::set<std::string, std::less<>> bound,
                   std::set<std::string, std::less<>>& out) {
  if (node.kind == Node::Kind::name && !bound.contains(node.text)) out.insert(node.text);
  if (node.kind == Node::Kind::sum) {
    collect_names(node.children[0], bound, out);
    collect_names(node.children[1], bound, out);
    bound.insert(node.text);
    collect_names(node.children[2], bound, out);
    return;
  }
  for (const Node& child : node.children) collect_names(child, bound, out);
}

}  // namespace

const Definition* ModelFile::find(std::string_view name) const {
  const auto found = definitions.find(name);
  return found == definitions.end() ? nullptr : &found->second;
}

const Definition& total_of(const ModelFile& model) {
  for (const std::string_view name : {"total", "ttotal"})
    if (const Definition* found = model.find(name)) return *found;
  throw Error(model.file + ": nothing says what the whole time is; define total(p,n) = ..., the " +
              "sum of the phases");
}

std::vector<std::string> parameters_of(const ModelFile& model) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, definition] : model.definitions) {
    if (!definition.is_function) names.insert(name);
    collect_names(definition.body, {definition.arguments.begin(), definition.arguments.end()},
                  names);
  }
  const Definition& total = total_of(model);
  names.insert(total.arguments.begin(), total.arguments.end());
  names.erase(total.name);
  std::erase_if(names,
                [](const std::string& name) { return name == "pi" || name.starts_with("T_"); });
  return {names.begin(), names.end()};
}

ModelFile parse_model(std::string_view text, const std::string& file) {
  return Reader(without_drawing(text), file).run();
}

ModelFile read_model_file(const std::string& path) {
  return parse_model(read_whole_file(path, "the model"), path);
}

}  // namespace foretrace::formulas
