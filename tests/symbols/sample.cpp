#include "sample.hpp"

namespace {
[[gnu::noipa]] const void* where() {
  return __builtin_return_address(0);
}
}  // namespace
namespace sample {
[[gnu::always_inline]] inline const void* helper() {
  const void* from = where();
  return static_cast<const char*>(from) + 0;
}
[[gnu::noinline]] Calls call_it(int depth) {
  const void* plain = where();
  Calls calls{plain, helper()};
  if (depth > 0) calls.plain = nullptr;
  return calls;
}
}  // namespace sample
