/* Knows no MPI when it is linked: loads LIBRARY (an MPI program's code) and calls its
 * `run`, as interpreters do with their modules. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!module) {
    fprintf(stderr, "loads_late: %s\n", argc > 1 ? dlerror() : "no library given");
    return 2;
  }
  void (*run)(void);
  *(void**)&run = dlsym(module, "run");
  run();
  return 0;
}
