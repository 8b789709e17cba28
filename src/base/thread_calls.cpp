// pthread_create() and pthread_join() as the program calls them (thread_calls.hpp).
#include "base/thread_calls.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <new>

#include "base/next_function.hpp"

namespace foretrace::thread_calls {
namespace {

using Function = void* (*)(void*);

std::atomic<const Watcher*> watching{nullptr};
thread_local std::optional<Position> begun;

struct Begin {
  Function function;
  void* argument;
  Position at;
};

void* run(void* made) {
  const Begin begin = *std::unique_ptr<Begin>(static_cast<Begin*>(made));
  begun = begin.at;
  return begin.function(begin.argument);
}

}  // namespace

void watch(const Watcher& watcher) {
  watching.store(&watcher);
}

std::optional<Position> begun_at() {
  return begun;
}

}  // namespace foretrace::thread_calls

using namespace foretrace::thread_calls;

FORETRACE_STANDS_IN int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                       Function function, void* argument) {
  static const auto real =
      foretrace::next_function<int(pthread_t*, const pthread_attr_t*, Function, void*)>(
          "pthread_create");
  const Watcher* const watcher = watching.load();
  const auto at = watcher ? watcher->makes() : std::nullopt;
  if (!at) return real(thread, attributes, function, argument);
  // Where there is no memory the program goes on, and the thread begins where it is not told.
  std::unique_ptr<Begin> begin(new (std::nothrow) Begin{function, argument, *at});
  if (!begin) return real(thread, attributes, function, argument);
  const int result = real(thread, attributes, run, begin.get());
  if (result == 0) static_cast<void>(begin.release());
  return result;
}

FORETRACE_STANDS_IN int pthread_join(pthread_t thread, void** value) {
  static const auto real = foretrace::next_function<int(pthread_t, void**)>("pthread_join");
  const int result = real(thread, value);
  const Watcher* const watcher = watching.load();
  if (result == 0 && watcher) watcher->joined();
  return result;
}
