/* foretrace.h - annotations that a C or C++ program may carry for Foretrace.
 *
 * The macros find the capture library at run time. Without it (a plain run)
 * each of them is one test of a pointer, so they may stay in production code;
 * define FORETRACE_DISABLE before the include to remove even that. They do
 * not need MPI, and need no library at link time.
 *
 * C++ programs have foretrace.hpp on top of this, Fortran programs the module
 * foretrace. docs/annotations.md explains them all.
 */
#ifndef FORETRACE_H
#define FORETRACE_H

#ifdef FORETRACE_DISABLE

/* sizeof evaluates nothing, but what it names counts as used. */
#define FORETRACE_COMPUTE(n) ((void)sizeof(n))
#define FORETRACE_PHASE_BEGIN(name) ((void)sizeof(name))
#define FORETRACE_PHASE_END(name) ((void)sizeof(name))
#define FORETRACE_MARK(name) ((void)sizeof(name))
#define FORETRACE_MARK_VALUE(name, value) ((void)(sizeof(name) + sizeof(value)))
#define FORETRACE_KERNEL_RUNS(name, key) ((void)(sizeof(name) + sizeof(key)), 1)
#define FORETRACE_KERNEL_END(name) ((void)sizeof(name))

#else

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The capture library's side of the macros, as one table of functions. Program
 * and library may be of different ages: the table grows at its end only, and
 * `size` says how far the library's reaches. */
struct foretrace_hooks {
  size_t size; /* of this struct, in bytes, as the library knows it */
  /* Adds `steps` compute steps (>= 0) to the calling rank. One step lasts
   * compute.step seconds of the machine model. */
  void (*compute)(double steps);
  /* Opens and closes the phase `name`; phases nest. One that was opened under
   * the name "" gets the name under which it is closed. */
  void (*phase_begin)(const char *name);
  void (*phase_end)(const char *name);
  /* Marks a moment; `value` is the program's own. */
  void (*mark)(const char *name, double value);
  /* Whether the kernel `name` of size `key` is to be executed; if so, its end
   * is told. */
  int (*kernel_begin)(const char *name, double key);
  void (*kernel_end)(const char *name);
};

/* Returns the capture library's hooks, or NULL where it is not loaded. */
static inline const struct foretrace_hooks *foretrace_find_hooks(void) {
  static const struct foretrace_hooks *hooks;
  static int looked;
  if (!looked) {
    const struct foretrace_hooks *(*get)(void);
    void *symbol = dlsym((void *)0 /* RTLD_DEFAULT */, "foretrace_get_hook_table");
    if (symbol) {
      memcpy(&get, &symbol, sizeof get);
      hooks = get();
    }
    looked = 1;
  }
  return hooks;
}

static inline int foretrace_kernel_runs(const char *name, double key) {
  const struct foretrace_hooks *hooks = foretrace_find_hooks();
  if (hooks && hooks->size > offsetof(struct foretrace_hooks, kernel_begin))
    return hooks->kernel_begin(name, key);
  return 1;
}

#ifdef __cplusplus
}
#endif

/* Calls one of the hooks, where there is a library that has it. */
#define FORETRACE_CALL_HOOK(hook, arguments)                          \
  do {                                                                \
    const struct foretrace_hooks *ft_h = foretrace_find_hooks();      \
    if (ft_h && ft_h->size > offsetof(struct foretrace_hooks, hook))  \
      ft_h->hook arguments;                                           \
  } while (0)

/* Counts n compute steps (>= 0) done since the last MPI call (--compute annotated
 * turns them into time). A plain run need not evaluate n, nor what other macros
 * are given: call nothing in them that the program needs. */
#define FORETRACE_COMPUTE(n) FORETRACE_CALL_HOOK(compute, ((double)(n)))

/* Opens a named phase of the program; phases nest. */
#define FORETRACE_PHASE_BEGIN(name) FORETRACE_CALL_HOOK(phase_begin, (name))

/* Closes the phase opened last under this name. */
#define FORETRACE_PHASE_END(name) FORETRACE_CALL_HOOK(phase_end, (name))

/* Marks this moment in the time line, and a number with it (a residual, an
 * iteration, a size). */
#define FORETRACE_MARK(name) FORETRACE_CALL_HOOK(mark, ((name), 0))
#define FORETRACE_MARK_VALUE(name, value) FORETRACE_CALL_HOOK(mark, ((name), (double)(value)))

/* A computation that the program makes again and again, without MPI calls:
 *
 *     if (FORETRACE_KERNEL_RUNS("relax", n)) {
 *       relax(n);
 *       FORETRACE_KERNEL_END("relax");
 *     }
 *
 * It is always executed, but for runs under --sample N: there each rank executes
 * the first N of each name and key, and is then taken to compute for as long as
 * they did. What it would have computed is missing from then on: the results of
 * such a run are not the program's. */
#define FORETRACE_KERNEL_RUNS(name, key) foretrace_kernel_runs((name), (double)(key))
#define FORETRACE_KERNEL_END(name) FORETRACE_CALL_HOOK(kernel_end, (name))

#endif /* FORETRACE_DISABLE */

#endif /* FORETRACE_H */
