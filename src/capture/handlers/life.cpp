#include "base/program_clock.hpp"
#include "capture/handlers/handlers.hpp"
#include "capture/profile/profiler.hpp"
#include "capture/session/start_up.hpp"

namespace foretrace::capture {

int init(Fn fn, int*, char***, Real real) {
  // Nothing of ours is made yet. A constructor of a library that the program is linked with may be
  // that early.
  if (!is_loaded()) {
    const int result = real();
    tell_of_early_init();
    return result;
  }
  warn_of_another_mpi();
  const int result = real();
  if (result == MPI_SUCCESS && !session.started()) session.start(fn);
  return result;
}

int init(Fn fn, int* argc, char*** argv, int, int*, Real real) {
  return init(fn, argc, argv, real);
}

int finalize(Fn fn, Real real) {
  delete_own_attributes();
  // MPI looks at the clock to see that its own messages come in time.
  const program_clock::Real shown;
  session.stop(fn);
  profiler.stop();
  return real();
}

int abort(Fn fn, MPI_Comm, int code, Real real) {
  const program_clock::Real shown;
  session.look_at_the_end();
  {
    Inside inside;
    if (inside) session.abort(fn, code);
  }
  profiler.abort(code);
  return real();
}

// MPI 3.1, 14.2.4. There is nothing to flush (level 2); other levels mean nothing here.
int pcontrol(Fn fn, int level, Real real) {
  Inside inside;
  if (!inside) return real();
  session.piggyback.keep_going();
  if (level == 1) session.set_logging(true);
  const int result = plain_call(fn, real);
  if (level == 0) session.set_logging(false);
  return result;
}

double wtime(Fn fn, FunctionRef<double()> real) {
  Inside inside;
  if (!inside) return real();
  session.open(trace::EventKind::call, fn);
  if (session.virtual_wtime()) return session.close_as_reading();
  const double seconds = real();
  session.close_as_reading_of(seconds);
  return seconds;
}

double wtick(Fn fn, FunctionRef<double()> real) {
  Inside inside;
  if (!inside) return real();
  session.open(trace::EventKind::call, fn);
  const double resolution = session.virtual_wtime() ? session.timing().model().timer_resolution : 0;
  const double seconds = resolution > 0 ? resolution : real();
  session.close_as_call();
  return seconds;
}

}  // namespace foretrace::capture
