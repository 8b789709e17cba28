#include "formulas/expression.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace foretrace::formulas {
namespace {

constexpr int kMostNested = 200;

// Signs of two operands, weakest first; those of a line bind alike, from the left.
using Signs = std::array<std::string_view, 4>;
constexpr Signs kLevels[] = {{"||"},     {"&&"},         {"==", "!="}, {"<", "<=", ">", ">="},
                             {"+", "-"}, {"*", "/", "%"}};
constexpr std::size_t kMostLevels = std::size(kLevels);

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, std::size_t& at, const std::string& file)
      : tokens_(tokens), at_(at), file_(file) {}

  Node expression() {
    const Deeper deeper(*this);
    Node condition = binary(0);
    if (!is_sign("?")) return condition;
    Node node = make(Node::Kind::choice, "?");
    ++at_;
    node.children.push_back(std::move(condition));
    node.children.push_back(expression());
    expect(":");
    node.children.push_back(expression());
    return node;
  }

 private:
  struct Deeper {
    explicit Deeper(Parser& parser) : parser(parser) {
      if (++parser.depth_ > kMostNested) parser.fail("the expression is nested too deeply");
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  Node binary(std::size_t level) {
    if (level == kMostLevels) return unary();
    Node left = binary(level + 1);
    int chained = 0;
    while (const Token* sign = one_of(kLevels[level])) {
      // A long chain is a deep tree.
      if (++chained > kMostNested) fail("more than 200 operands in a row; define a part by a name");
      Node node = make(Node::Kind::binary, sign->text);
      ++at_;
      node.children.push_back(std::move(left));
      node.children.push_back(binary(level + 1));
      left = std::move(node);
    }
    return left;
  }

  // -a**b is -(a**b), as in gnuplot.
  Node unary() {
    const Deeper deeper(*this);
    if (is_sign("-") || is_sign("+") || is_sign("!")) {
      Node node = make(Node::Kind::unary, token().text);
      ++at_;
      node.children.push_back(unary());
      return node;
    }
    Node base = primary();
    if (!is_sign("**")) return base;
    Node node = make(Node::Kind::binary, "**");
    ++at_;
    node.children.push_back(std::move(base));
    node.children.push_back(unary());
    return node;
  }

  Node primary() {
    if (token().kind == Token::Kind::number) {
      Node node = make(Node::Kind::number, token().text);
      node.value = token().value;
      node.whole = token().whole;
      ++at_;
      return node;
    }
    if (is_sign("(")) {
      ++at_;
      Node inner = expression();
      expect(")");
      return inner;
    }
    if (token().kind != Token::Kind::name) fail("expected a number, a name or '('" + found());
    Node node = make(Node::Kind::name, token().text);
    ++at_;
    if (node.text == "sum" && is_sign("[")) return sum();
    if (is_sign("(")) arguments(node);
    return node;
  }

  void arguments(Node& node) {
    node.kind = Node::Kind::call;
    ++at_;
    if (is_sign(")")) fail("'" + node.text + "()' has no argument");
    do node.children.push_back(expression());
    while (skip(","));
    expect(")");
  }

  // sum [i = 1 : n] term, as in gnuplot: the term goes on as far as it can.
  Node sum() {
    ++at_;
    if (token().kind != Token::Kind::name) fail("expected a name behind 'sum ['" + found());
    Node node = make(Node::Kind::sum, token().text);
    ++at_;
    expect("=");
    node.children.push_back(expression());
    expect(":");
    node.children.push_back(expression());
    expect("]");
    node.children.push_back(expression());
    return node;
  }

  const Token& token() const { return tokens_[at_]; }
  bool is_sign(std::string_view sign) const {
    return token().kind == Token::Kind::sign && token().text == sign;
  }
  const Token* one_of(const Signs& signs) const {
    for (const std::string_view sign : signs)
      if (!sign.empty() && is_sign(sign)) return &token();
    return nullptr;
  }
  bool skip(std::string_view sign) {
    if (!is_sign(sign)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view sign) {
    if (!skip(sign)) fail("expected '" + std::string(sign) + "'" + found());
  }
  std::string found() const {
    if (token().kind == Token::Kind::end_of_statement)
      return ", found the end of the line (a line that goes on ends with \\)";
    return ", found '" + token().text + "'";
  }
  Node make(Node::Kind kind, std::string text) const {
    return {kind, std::move(text), 0, false, token().line, {}};
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(file_ + ":" + std::to_string(token().line) + ": " + message);
  }

  const std::vector<Token>& tokens_;
  std::size_t& at_;
  const std::string& file_;
  int depth_ = 0;
};

int strength(const Node& node) {
  if (node.kind == Node::Kind::choice || node.kind == Node::Kind::sum) return -1;
  if (node.kind == Node::Kind::unary) return kMostLevels;
  if (node.kind != Node::Kind::binary) return kMostLevels + 2;
  for (std::size_t level = 0; level < kMostLevels; ++level)
    for (const std::string_view sign : kLevels[level])
      if (sign == node.text) return static_cast<int>(level);
  return kMostLevels + 1;  // **
}

std::string inside(const Node& node, int least) {
  const std::string text = format_expression(node);
  return strength(node) < least ? "(" + text + ")" : text;
}

}  // namespace

Node parse_expression(const std::vector<Token>& tokens, std::size_t& at, const std::string& file) {
  return Parser(tokens, at, file).expression();
}

std::string format_expression(const Node& node) {
  const auto& children = node.children;
  switch (node.kind) {
    case Node::Kind::number:
    case Node::Kind::name:
      return node.text;
    case Node::Kind::call: {
      std::string out = node.text + "(";
      for (std::size_t i = 0; i < children.size(); ++i)
        out += (i ? ", " : "") + format_expression(children[i]);
      return out + ")";
    }
    case Node::Kind::unary:
      return node.text + inside(children[0], kMostLevels);
    case Node::Kind::binary: {
      const int own = strength(node);
      const bool power = node.text == "**";
      const std::string space = power || own == kMostLevels - 1 ? "" : " ";
      return inside(children[0], power ? own + 1 : own) + space + node.text + space +
             inside(children[1], power ? kMostLevels : own + 1);
    }
    case Node::Kind::choice:
      return inside(children[0], 0) + " ? " + format_expression(children[1]) + " : " +
             format_expression(children[2]);
    case Node::Kind::sum:
      return "sum [" + node.text + " = " + format_expression(children[0]) + " : " +
             format_expression(children[1]) + "] " + format_expression(children[2]);
  }
  return "";
}

}  // namespace foretrace::formulas
