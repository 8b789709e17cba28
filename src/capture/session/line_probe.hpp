// LineProbe: what a cache line takes from rank 0's core to that of another rank of its host as the
// run begins, and as it ends. `validate` asks for it: a virtual machine's cores may be near each
// other in one run, and far apart in the next.
#pragma once

#include <string>

#include "base/cache_line.hpp"

namespace foretrace::capture {

class LineProbe {
 public:
  // Collective, a millisecond. The file holds a LinesOfRun; empty: nobody asks. Nothing is timed
  // where rank 0 is alone on its host, both do not have the file, or some rank shares its cores
  // with others of the run (a line would wait for them).
  void begin(const std::string& file, bool shares_cores);
  // Likewise, once all ranks are there.
  void end();

 private:
  double time();

  bool times_ = false;
  MappedLines lines_;  // of the two, if they were asked
};

extern LineProbe line_probe;

}  // namespace foretrace::capture
