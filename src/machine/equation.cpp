#include "machine/equation.hpp"

#include <algorithm>
#include <cmath>

namespace foretrace::machine {

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

double Equation::evaluate(double p, double d, Bound bound) const {
  const double time = constant.at(bound) + startup.at(bound) * machine::evaluate(startup_form, p) +
                      data.at(bound) * machine::evaluate(data_form, p, d);
  return std::max(time, 0.0);
}

}  // namespace foretrace::machine
