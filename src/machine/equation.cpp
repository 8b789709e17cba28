#include "machine/equation.hpp"

#include <cmath>
#include <span>

namespace foretrace::machine {
namespace {

double sum_of(std::span<const Term> terms, double p, double d, Bound bound) {
  double sum = 0;
  for (const Term& term : terms) sum += term.coefficient.at(bound) * evaluate(term.factor, p, d);
  return sum;
}

bool is_power_of_two(double p) {
  int exponent = 0;
  return std::frexp(p, &exponent) == 0.5;
}

void append(std::vector<Term>& terms, Factor factor, const Coefficient& coefficient) {
  if (coefficient.value != 0 || coefficient.error != 0) terms.push_back({factor, coefficient});
}

std::vector<Term> without_zeros(std::span<const Term> terms) {
  std::vector<Term> kept;
  for (const Term& term : terms) append(kept, term.factor, term.coefficient);
  return kept;
}

}  // namespace

std::string_view name_of(StartupForm form) {
  switch (form) {
    case StartupForm::p:
      return "p";
    case StartupForm::ln_p:
      return "ln p";
    case StartupForm::p2:
      return "p^2";
  }
  return "";
}

std::string_view name_of(DataForm form) {
  switch (form) {
    case DataForm::d:
      return "d";
    case DataForm::p_d:
      return "p d";
    case DataForm::ln_p_d:
      return "ln p d";
    case DataForm::p2_d:
      return "p^2 d";
  }
  return "";
}

std::optional<StartupForm> parse_startup_form(std::string_view name) {
  for (StartupForm form : kStartupForms)
    if (name_of(form) == name) return form;
  return std::nullopt;
}

std::optional<DataForm> parse_data_form(std::string_view name) {
  for (DataForm form : kDataForms)
    if (name_of(form) == name) return form;
  return std::nullopt;
}

double evaluate(StartupForm form, double p) {
  switch (form) {
    case StartupForm::p:
      return p;
    case StartupForm::ln_p:
      return std::log(p);
    case StartupForm::p2:
      return p * p;
  }
  return 0;
}

double evaluate(DataForm form, double p, double d) {
  switch (form) {
    case DataForm::d:
      return d;
    case DataForm::p_d:
      return p * d;
    case DataForm::ln_p_d:
      return std::log(p) * d;
    case DataForm::p2_d:
      return p * p * d;
  }
  return 0;
}

std::string_view name_of(Factor factor) {
  switch (factor) {
    case Factor::one:
      return "1";
    case Factor::p:
      return "p";
    case Factor::ln_p:
      return "ln p";
    case Factor::p2:
      return "p^2";
    case Factor::d:
      return "d";
    case Factor::p_d:
      return "p d";
    case Factor::ln_p_d:
      return "ln p d";
    case Factor::p2_d:
      return "p^2 d";
    case Factor::ceil_log2_p:
      return "ceil log2 p";
    case Factor::p_minus_1:
      return "(p-1)";
    case Factor::share:
      return "(p-1)/p";
    case Factor::ceil_log2_p_d:
      return "ceil log2 p d";
    case Factor::share_d:
      return "(p-1)/p d";
    case Factor::p_minus_1_d:
      return "(p-1) d";
  }
  return "";
}

std::optional<Factor> parse_factor(std::string_view name) {
  for (Factor factor : kFactors)
    if (name_of(factor) == name) return factor;
  return std::nullopt;
}

double evaluate(Factor factor, double p, double d) {
  switch (factor) {
    case Factor::one:
      return 1;
    case Factor::p:
      return p;
    case Factor::ln_p:
      return std::log(p);
    case Factor::p2:
      return p * p;
    case Factor::d:
      return d;
    case Factor::p_d:
      return p * d;
    case Factor::ln_p_d:
      return std::log(p) * d;
    case Factor::p2_d:
      return p * p * d;
    case Factor::ceil_log2_p:
      return std::ceil(std::log2(p));
    case Factor::p_minus_1:
      return p - 1;
    case Factor::share:
      return (p - 1) / p;
    case Factor::ceil_log2_p_d:
      return std::ceil(std::log2(p)) * d;
    case Factor::share_d:
      return (p - 1) / p * d;
    case Factor::p_minus_1_d:
      return (p - 1) * d;
  }
  return 0;
}

bool depends_on_ranks(Factor factor) {
  return factor != Factor::one && factor != Factor::d;
}

bool depends_on_data(Factor factor) {
  return evaluate(factor, 2, 1) != evaluate(factor, 2, 0);
}

Factor factor_of(StartupForm form) {
  switch (form) {
    case StartupForm::p:
      return Factor::p;
    case StartupForm::ln_p:
      return Factor::ln_p;
    case StartupForm::p2:
      return Factor::p2;
  }
  return Factor::p;
}

Factor factor_of(DataForm form) {
  switch (form) {
    case DataForm::d:
      return Factor::d;
    case DataForm::p_d:
      return Factor::p_d;
    case DataForm::ln_p_d:
      return Factor::ln_p_d;
    case DataForm::p2_d:
      return Factor::p2_d;
  }
  return Factor::d;
}

double Coefficient::at(Bound bound) const {
  switch (bound) {
    case Bound::min:
      return value - error;
    case Bound::avg:
      return value;
    case Bound::max:
      return value + error;
  }
  return value;
}

double Equation::sum(double p, double d, Bound bound) const {
  if (is_papers_form())
    return constant.at(bound) + startup.at(bound) * machine::evaluate(startup_form, p) +
           data.at(bound) * machine::evaluate(data_form, p, d);
  return sum_of(other_terms.empty() || is_power_of_two(p) ? terms : other_terms, p, d, bound);
}

double Equation::evaluate(double p, double d, Bound bound) const {
  // An interval is relative to the equation's own time.
  double time = sum(p, d, interval ? Bound::avg : bound);
  if (interval && bound != Bound::avg) time *= bound == Bound::min ? interval->low : interval->high;
  // Also where huge coefficients leave no number.
  return time > 0 ? time : 0;
}

void Equation::scale(double times) {
  const auto stretch = [times](Coefficient& coefficient) {
    coefficient.value *= times;
    coefficient.error *= times;
  };
  for (Coefficient* coefficient : {&constant, &startup, &data}) stretch(*coefficient);
  for (std::vector<Term>* sum : {&terms, &other_terms})
    for (Term& term : *sum) stretch(term.coefficient);
}

void Equation::add(double more) {
  constant.value += more;
  for (std::vector<Term>* sum : {&terms, &other_terms})
    if (!sum->empty()) sum->push_back({Factor::one, {more, 0}});
}

std::vector<TermSum> Equation::sums() const {
  if (!other_terms.empty() && !is_papers_form())
    return {{RankSet::powers_of_two, without_zeros(terms)},
            {RankSet::others, without_zeros(other_terms)}};
  TermSum all{RankSet::all, without_zeros(terms)};
  if (is_papers_form()) {
    append(all.terms, Factor::one, constant);
    append(all.terms, factor_of(startup_form), startup);
    append(all.terms, factor_of(data_form), data);
  }
  return {all};
}

}  // namespace foretrace::machine
