// For functions of other libraries that one of ours stands in for.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>

namespace foretrace {

// The function that the program would have called without us; null: there is none.
template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The same of one of which the C library has an older function, too.
template <class Function>
Function* next_function(const char* name, const char* version) {
  void* const newer = version[0] != 0 ? ::dlvsym(RTLD_NEXT, name, version) : nullptr;
  return newer ? reinterpret_cast<Function*>(newer) : next_function<Function>(name);
}

// A name as an argument of a template.
template <std::size_t size>
struct Name {
  consteval Name(const char (&name)[size]) { std::copy_n(name, size, text); }
  char text[size];
};

// One of the C library's, found when our library is loaded. To look for it later takes the dynamic
// linker's lock, which a thread may hold that waits for the calling one: in a library's
// constructor, under dlopen.
template <Name name, class Function, Name version>
struct FoundAtLoad {
  inline static Function* const function = next_function<Function>(name.text, version.text);
};

// That function. Constructors of other libraries may call before ours has run.
template <Name name, class Function, Name version = "">
Function* next() {
  Function* const found = FoundAtLoad<name, Function, version>::function;
  return found ? found : next_function<Function>(name.text, version.text);
}

}  // namespace foretrace

#define FORETRACE_STANDS_IN extern "C" __attribute__((visibility("default")))
