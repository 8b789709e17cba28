// Prints the two addresses that sample::call_it tells.
#include <cstdio>

#include "sample.hpp"

int main() {
  const Calls calls = sample::call_it(0);
  std::printf("%p %p\n", calls.plain, calls.inlined);
}
