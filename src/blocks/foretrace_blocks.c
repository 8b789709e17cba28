/* libforetrace-blocks.a: counts the basic blocks that a program executes, for
 * --compute counted. The compiler puts a call before every block:
 *
 *     mpicc -fsanitize-coverage=trace-pc program.c .../libforetrace-blocks.a
 *
 * In a plain run each call is one addition. Under Foretrace the counter is
 * handed to the library that was loaded with the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#define WEAK __attribute__((weak, visibility("default")))

static __thread unsigned long blocks;

WEAK void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  ++blocks;
}

static unsigned long *counter_of_this_thread(void) {
  return &blocks;
}

__attribute__((constructor)) static void hand_over(void) {
  void (*take)(unsigned long *(*)(void));
  void *symbol = dlsym(RTLD_DEFAULT, "foretrace_count_blocks");
  if (!symbol) return;
  memcpy(&take, &symbol, sizeof take);
  take(counter_of_this_thread);
}
