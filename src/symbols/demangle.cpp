#include "symbols/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace foretrace::symbols {
namespace {

// Where the bracket is opened that the one at `close` closes.
std::size_t opening(const std::string& text, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string::npos;
}

// Cuts the parameters, and what stands behind them: "f(int) const [clone .x]".
void cut_parameters(std::string& text) {
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) return;
  const std::size_t open = opening(text, close);
  constexpr const char* kNameless = "(anonymous namespace)";
  if (open == std::string::npos || text.compare(open, 21, kNameless) == 0) return;
  text.resize(open);
}

// Cuts the result, which templates name: "void send_all<int>".
void cut_result(std::string& text) {
  if (text.find("operator") != std::string::npos) return;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>' || text[i] == ')') ++depth;
    if (text[i] == '<' || text[i] == '(') --depth;
    if (text[i] == ' ' && depth == 0) {
      text.erase(0, i + 1);
      return;
    }
  }
}

}  // namespace

std::string demangle(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !plain) return name;
  std::string text = plain.get();
  cut_parameters(text);
  cut_result(text);
  return text;
}

}  // namespace foretrace::symbols
