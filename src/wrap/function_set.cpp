#include "wrap/function_set.hpp"

#include <fnmatch.h>
#include <regex.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"
#include "mpi_api/names.hpp"

namespace foretrace::wrap {
namespace {

// The group that no table can tell: an MPI's own header does.
constexpr std::string_view kConversions = "conversions";

bool fits(const char* pattern, std::string_view name) {
  return ::fnmatch(pattern, std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

void skip_blanks(std::string_view& rest) {
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
}

std::shared_ptr<const void> compile(const std::string& text, const std::string& place) {
  auto* compiled = new regex_t;
  const int fault = ::regcomp(compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (fault != 0) {
    char reason[200];
    ::regerror(fault, compiled, reason, sizeof reason);
    delete compiled;
    throw Error(place + "/" + text + "/ is no regular expression: " + reason);
  }
  return {compiled, [](const void* pointer) {
            auto* regex = static_cast<regex_t*>(const_cast<void*>(pointer));
            ::regfree(regex);
            delete regex;
          }};
}

}  // namespace

FunctionSet::FunctionSet(std::string_view text, const std::string& place) : place_(place) {
  std::string_view rest = text;
  char joined = '+';
  for (;;) {
    skip_blanks(rest);
    if (rest.empty())
      throw Error(place_ + (terms_.empty() ? "which functions? Name some, or a group, or all"
                                           : "expected functions after the last operator"));
    terms_.push_back(parse_term(rest));
    terms_.back().joined = joined;
    skip_blanks(rest);
    if (rest.empty()) return;
    joined = rest.front() == ',' ? '+' : rest.front();
    if (joined != '+' && joined != '-' && joined != '&')
      throw Error(place_ + "expected +, -, & or the end of the line, found '" + std::string(rest) +
                  "'");
    rest.remove_prefix(1);
  }
}

FunctionSet::Term FunctionSet::parse_term(std::string_view& rest) const {
  Term term;
  if (rest.front() == '/') {
    const std::size_t end = rest.find('/', 1);
    if (end == std::string_view::npos) throw Error(place_ + "the regular expression has no end /");
    term.kind = Kind::regex;
    term.text = rest.substr(1, end - 1);
    // The library's matcher is slow with long and nested repetitions.
    if (term.text.size() > 200)
      throw Error(place_ + "the regular expression is longer than 200 characters");
    if (term.text.find('{') != std::string::npos)
      throw Error(place_ + "repetition counts {} are not allowed in a regular expression");
    term.regex = compile(term.text, place_);
    rest.remove_prefix(end + 1);
    return term;
  }
  std::size_t end = 0;
  while (end < rest.size() && (is_word(rest[end]) || rest[end] == '*' || rest[end] == '?')) ++end;
  if (end == 0)
    throw Error(place_ + "expected functions, found '" + std::string(rest.substr(0, 20)) + "'");
  term.text = rest.substr(0, end);
  rest.remove_prefix(end);
  if (term.text.find_first_of("*?") != std::string::npos)
    term.kind = Kind::pattern;
  else if (term.text.starts_with("MPI_") || term.text.starts_with("MPIX_"))
    term.kind = Kind::name;
  else if (term.text == "all")
    term.kind = Kind::all;
  else if (term.text == "wrapped")
    term.kind = Kind::wrapped;
  else if (term.text == kConversions || mpi_api::find_group(term.text))
    term.kind = Kind::group;
  else {
    std::string known;
    for (std::string_view name : group_names()) known += std::string(name) + ", ";
    throw Error(place_ + "no group of functions is called '" + term.text + "'; there are " + known +
                "all and wrapped");
  }
  return term;
}

bool FunctionSet::uses_wrapped() const {
  return std::ranges::any_of(terms_, [](const Term& term) { return term.kind == Kind::wrapped; });
}

void FunctionSet::check(std::span<const MpiFunction> functions) const {
  for (const Term& term : terms_)
    if (term.kind == Kind::name &&
        std::ranges::find(functions, term.text, &MpiFunction::name) == functions.end())
      throw Error(place_ + "this MPI has no function " + term.text + "; a pattern like " +
                  term.text + "* names it only where it is there");
}

bool FunctionSet::matches(const Term& term, std::string_view function,
                          const std::function<bool(std::string_view)>& wrapped) {
  if (term.kind == Kind::name)
    return function == term.text || mpi_api::without_large_count(function) == term.text;
  if (term.kind == Kind::group && term.text == kConversions) return is_conversion(function);
  if (is_conversion(function)) return false;
  switch (term.kind) {
    case Kind::pattern:
      return fits(term.text.c_str(), function);
    case Kind::regex:
      return ::regexec(static_cast<const regex_t*>(term.regex.get()), std::string(function).c_str(),
                       0, nullptr, 0) == 0;
    case Kind::group:
      return mpi_api::is_in(*mpi_api::find_group(term.text), function);
    case Kind::wrapped:
      return wrapped(function);
    case Kind::name:
    case Kind::all:
      break;
  }
  return true;
}

bool FunctionSet::contains(std::string_view function,
                           const std::function<bool(std::string_view)>& wrapped) const {
  bool in = false;
  for (const Term& term : terms_) {
    const bool here = matches(term, function, wrapped);
    if (term.joined == '+') in = in || here;
    if (term.joined == '-') in = in && !here;
    if (term.joined == '&') in = in && here;
  }
  return in;
}

std::vector<std::string_view> group_names() {
  std::vector<std::string_view> names;
  for (const mpi_api::Group& group : mpi_api::groups()) names.push_back(group.name);
  names.push_back(kConversions);
  return names;
}

}  // namespace foretrace::wrap
