// Functions that tell where they were called from.
#pragma once

struct Calls {
  const void* plain;    // from sample.cpp:14, in sample::call_it
  const void* inlined;  // from sample.cpp:10, in sample::helper, inside of call_it
};

namespace sample {
Calls call_it(int depth);
}
