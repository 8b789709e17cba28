/* foretrace.h - annotations that a C or C++ program may carry for Foretrace.
 *
 * The macros find the capture library at run time. Without it (a plain run)
 * each of them is one test of a pointer, so they may stay in production code;
 * define FORETRACE_DISABLE before the include to remove even that. They do
 * not need MPI, and need no library at link time.
 */
#ifndef FORETRACE_H
#define FORETRACE_H

#ifdef FORETRACE_DISABLE

/* sizeof evaluates nothing, but what it names counts as used. */
#define FORETRACE_COMPUTE(n) ((void)sizeof(n))
#define FORETRACE_PHASE_BEGIN(name) ((void)sizeof(name))
#define FORETRACE_PHASE_END(name) ((void)sizeof(name))

#else

#include <dlfcn.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The capture library's side of the macros, as one table of functions. */
struct foretrace_hooks {
  /* Adds `steps` compute steps (>= 0) to the calling rank. One step lasts
   * compute.step seconds of the machine model. */
  void (*compute)(double steps);
  /* Opens and closes the phase `name`; phases nest. */
  void (*phase_begin)(const char *name);
  void (*phase_end)(const char *name);
};

/* Returns the capture library's hooks, or NULL where it is not loaded. */
static inline const struct foretrace_hooks *foretrace_find_hooks(void) {
  static const struct foretrace_hooks *hooks;
  static int looked;
  if (!looked) {
    const struct foretrace_hooks *(*get)(void);
    void *symbol = dlsym((void *)0 /* RTLD_DEFAULT */, "foretrace_get_hooks");
    if (symbol) {
      memcpy(&get, &symbol, sizeof get);
      hooks = get();
    }
    looked = 1;
  }
  return hooks;
}

#ifdef __cplusplus
}
#endif

/* Counts n compute steps done since the last MPI call (predict --compute
 * annotated turns them into time). */
#define FORETRACE_COMPUTE(n)                                    \
  do {                                                          \
    const struct foretrace_hooks *ft_h = foretrace_find_hooks(); \
    if (ft_h) ft_h->compute((double)(n));                       \
  } while (0)

/* Opens a named phase of the program; phases nest. */
#define FORETRACE_PHASE_BEGIN(name)                             \
  do {                                                          \
    const struct foretrace_hooks *ft_h = foretrace_find_hooks(); \
    if (ft_h) ft_h->phase_begin(name);                          \
  } while (0)

/* Closes the phase opened last under this name. */
#define FORETRACE_PHASE_END(name)                               \
  do {                                                          \
    const struct foretrace_hooks *ft_h = foretrace_find_hooks(); \
    if (ft_h) ft_h->phase_end(name);                            \
  } while (0)

#endif /* FORETRACE_DISABLE */

#endif /* FORETRACE_H */
