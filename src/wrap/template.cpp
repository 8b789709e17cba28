#include "wrap/template.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace foretrace::wrap {
namespace {

constexpr int kDeepest = 50;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A line's directive; empty for a line of C.
struct Directive {
  std::string_view word;  // with its %
  std::string_view rest;
};

Directive directive_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.size() < 2 || text[0] != '%') return {};
  if (text[1] == '%') return {text.substr(0, 2), text.substr(2)};
  std::size_t end = 1;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
  if (end == 1) return {};
  return {text.substr(0, end), trimmed(text.substr(end))};
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : rest_(text) { result_.name = name; }

  Template parse() {
    result_.global = body("");
    return std::move(result_);
  }

 private:
  std::string place(int line) const { return result_.name + ":" + std::to_string(line) + ": "; }
  [[noreturn]] void fail(const std::string& message) const { fail(line_, message); }
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw Error(place(line) + message);
  }

  bool next_line(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(rest_.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    if (line.find('\0') != std::string_view::npos) fail("the line holds a zero byte");
    return true;
  }

  // Up to the %end of `section`; for %if also up to %elif and %else. Leaves the
  // directive that ended it in end_. At the top level ("") the end of the file.
  Body body(const std::string& section) {
    const int begin = line_;
    if (++depth_ > kDeepest) fail("sections are nested too deeply");
    Body nodes;
    std::string_view line;
    while (next_line(line)) {
      end_ = directive_of(line);
      if (end_.word == "%end" || end_.word == "%else" || end_.word == "%elif") {
        if (end_.word != "%end" && section != "%if") fail(std::string(end_.word) + " without %if");
        if (section.empty()) fail("%end, but no section is open");
        if (end_.word != "%elif") expect_nothing(end_);
        --depth_;
        return nodes;
      }
      add(nodes, line, end_, section);
    }
    if (!section.empty()) fail(begin, section + " has no %end");
    --depth_;
    return nodes;
  }

  void add(Body& nodes, std::string_view line, Directive directive, const std::string& section) {
    const std::string_view word = directive.word;
    Node node;
    node.line = line_;
    if (word.empty()) {
      node.text = line;
      nodes.push_back(std::move(node));
    } else if (word == "%%") {
      return;
    } else if (word == "%call") {
      if (!in_wrap_) fail("%call outside of %wrap");
      expect_nothing(directive);
      node.kind = Node::Kind::call;
      nodes.push_back(std::move(node));
    } else if (word == "%for") {
      nodes.push_back(loop(std::move(node), directive.rest));
    } else if (word == "%if") {
      nodes.push_back(branches(std::move(node), directive.rest));
    } else {
      this->section(directive, section);
    }
  }

  // What stands at the top level alone.
  void section(Directive directive, const std::string& outer) {
    const std::string word(directive.word);
    const int line = line_;
    if (word != "%wrap" && word != "%init" && word != "%finalize" && word != "%language")
      fail("unknown directive " + word +
           "; there are %wrap, %call, %init, %finalize, %for, %if, %elif, %else, %end, %language "
           "and %% for a comment");
    if (!outer.empty()) fail(word + " inside " + outer + "; is its %end missing?");
    if (word == "%language") {
      if (directive.rest != "c" && directive.rest != "c++") fail("%language: expected c or c++");
      result_.cpp = directive.rest == "c++";
    } else if (word == "%wrap") {
      FunctionSet set(directive.rest, place(line));
      if (set.uses_wrapped()) fail("%wrap cannot ask for the functions that are wrapped");
      in_wrap_ = true;
      Body code = body(word);
      in_wrap_ = false;
      result_.wraps.push_back({line, std::move(set), std::move(code)});
    } else {
      expect_nothing(directive);
      Body code = body(word);
      Body& all = word == "%init" ? result_.init : result_.finalize;
      std::ranges::move(code, std::back_inserter(all));
    }
  }

  Node loop(Node node, std::string_view rest) {
    node.kind = Node::Kind::loop;
    std::size_t end = 0;
    while (end < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_'))
      ++end;
    node.text = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    if (end == 0 || !rest.starts_with("in") || (rest.size() > 2 && !is_blank(rest[2])))
      fail("expected %for NAME in FUNCTIONS");
    node.set.emplace(rest.substr(2), place(line_));
    node.body = body("%for");
    return node;
  }

  Node branches(Node node, std::string_view rest) {
    node.kind = Node::Kind::branches;
    Directive opened{"%if", rest};
    do {
      Branch branch;
      if (opened.word != "%else")
        branch.condition = parse_condition(opened.rest, place(line_));
      else if (!node.branches.back().condition)
        fail("a second %else");
      const bool last = opened.word == "%else";
      branch.body = body("%if");
      node.branches.push_back(std::move(branch));
      if (last && end_.word != "%end") fail(std::string(end_.word) + " after %else");
      opened = end_;
    } while (opened.word != "%end");
    return node;
  }

  void expect_nothing(Directive directive) const {
    if (!directive.rest.empty() && !directive.rest.starts_with("%%"))
      fail("unexpected '" + std::string(directive.rest) + "' after " + std::string(directive.word));
  }

  Template result_;
  std::string_view rest_;
  int line_ = 0;
  int depth_ = 0;
  bool in_wrap_ = false;
  Directive end_;
};

}  // namespace

Template parse_template(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

}  // namespace foretrace::wrap
