#include "stats/relative_fit.hpp"

namespace foretrace::stats {

std::string_view sentence_of(Note note) {
  switch (note) {
    case Note::no_points:
      return "there are no values to fit";
    case Note::left_out:
      return "values that are negative, not finite or zero were left out";
    case Note::all_zero:
      return "all values are zero";
    case Note::too_few_points:
      return "there are no more different points than coefficients, so that nothing tells whether "
             "the form is right";
    case Note::dependent_columns:
      return "some terms cannot be told apart from others with these points and were left out";
    case Note::constant:
      return "all values are the same";
    case Note::one_group:
      return "there is only one launch, so that intervals do not hold what differs between "
             "launches";
    case Note::few_groups:
      return "there are only two launches, so that intervals are very wide";
    case Note::many_outliers:
      return "more than a fifth of the values are wild";
    case Note::not_settled:
      return "the robust fit did not settle";
    case Note::one_size:
      return "there is only one size, so that nothing is known about slopes";
    case Note::too_few_sizes:
      return "there are too few sizes for more than one piece";
  }
  return "";
}

}  // namespace foretrace::stats
