// What a child process is that the program makes by fork(): none of the run's
// ranks. It has a copy of the session and of the mappings to the files.
#pragma once

namespace foretrace::capture {

// From now on children of this process let go of all that is being captured: their
// calls are made and not seen. Once it was said, nothing more happens.
void let_children_go();

}  // namespace foretrace::capture
