#include "views/datasheet/notes.hpp"

namespace foretrace::views {

void add_notes(SheetDocument& document, SheetExtent extent) {
  document.blocks.push_back(Heading{1, "Notes on use", extent == SheetExtent::full});
  for (
      const char* note : {
          "All times are those that a process sees between calling an MPI function and its return. "
          "For "
          "collective functions all ranks start together, and the time ends when the last one "
          "leaves. "
          "When ranks do not come together, the early ones also wait for the late ones.",
          "t(p, d) is a sum of functions of p and d, each with its coefficient, as under "
          "Equations. "
          "A time that comes out below zero is taken as zero. Sizes outside all intervals take the "
          "nearest interval's equation.",
          "Minimum and maximum: where the model has prediction intervals, the stated share of "
          "measured "
          "times lies between them, when the machine is in the state that it was measured in. "
          "Without, "
          "every coefficient is one standard error lower and higher: a rough guide, since measured "
          "times are not normally distributed and errors of coefficients are not independent.",
          "What not to trust: times with an asterisk (other ranks or sizes than were measured), "
          "functions marked invalid, and any time on a machine in another state than under "
          "Measurement "
          "(other load, other binding of ranks to cores, other settings of the MPI library). "
          "Blocks "
          "during which a rank was switched out are left out, so these are times of an undisturbed "
          "machine. Buffers are warm or cold as stated; from 8 bytes to a few KiB that can be a "
          "factor "
          "of three.",
          "Where the numbers come from: times are the equations at p and d; medians, quartiles, "
          "numbers of "
          "samples and shares of blocks are counted in the samples file that lies beside the "
          "model, of "
          "launches that were used; residuals compare the two. Coefficients and their errors, Q, "
          "chi-squared, errors at sizes left out, shares that intervals hold and the LogGPS "
          "parameters are results of the fit and stand in the model as they are here. The state of "
          "the machine and the thresholds are what the measurement saw, noted at the head of the "
          "samples file.",
          "Q is the probability that a right equation would fit this badly by chance: near 1 is "
          "good, "
          "near 0 means that the equation leaves out something that the measurement saw. The "
          "residual "
          "is the root mean square of what the fit leaves.",
      })
    document.blocks.push_back(Paragraph{note});
}

}  // namespace foretrace::views
