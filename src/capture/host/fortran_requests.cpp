#include "capture/host/fortran_requests.hpp"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/loaded_object.hpp"

namespace foretrace::capture {

thread_local FortranRequests fortran_requests;

FortranRequests::Call::Call(const void* first)
    : program_first_(fortran_requests.program_first_),
      library_first_(fortran_requests.library_first_) {
  fortran_requests.program_first_ = static_cast<const char*>(first);
  fortran_requests.library_first_ = nullptr;
}

FortranRequests::Call::~Call() {
  fortran_requests.program_first_ = program_first_;
  fortran_requests.library_first_ = library_first_;
}

namespace {

// A call's arguments with its error code, all of them addresses in Fortran, and
// which of them is the request or the array of requests.
struct RequestCall {
  std::string_view name;
  std::size_t arguments;
  std::size_t request;
};

constexpr RequestCall kCalls[] = {
    {"isend", 8, 6},      {"ibsend", 8, 6},     {"issend", 8, 6},      {"irsend", 8, 6},
    {"irecv", 8, 6},      {"imrecv", 6, 4},     {"send_init", 8, 6},   {"bsend_init", 8, 6},
    {"ssend_init", 8, 6}, {"rsend_init", 8, 6}, {"recv_init", 8, 6},   {"start", 2, 0},
    {"startall", 3, 1},   {"wait", 3, 0},       {"waitall", 4, 1},     {"waitany", 5, 1},
    {"waitsome", 6, 1},   {"test", 4, 0},       {"testall", 5, 1},     {"testany", 6, 1},
    {"testsome", 6, 1},   {"cancel", 2, 0},     {"request_free", 2, 0}};
constexpr std::size_t kCallCount = std::size(kCalls);

// mpif.h and use mpi; use mpi_f08; use mpi_f08 of compilers with descriptors.
constexpr std::string_view kEndings[] = {"_", "_f08_", "_f08ts_"};
constexpr std::size_t kEndingCount = std::size(kEndings);

template <std::size_t>
using Address = void*;

template <std::size_t call, std::size_t ending, class Indices>
struct Stand;  // what stands in for one function of the Fortran library

template <std::size_t call, std::size_t ending, std::size_t... i>
struct Stand<call, ending, std::index_sequence<i...>> {
  static inline void (*real)(Address<i>...) = nullptr;

  static void in(Address<i>... arguments) {
    void* const all[] = {arguments...};
    const FortranRequests::Call call_under_way(all[kCalls[call].request]);
    real(arguments...);
  }
};

struct Entry {
  void* stand_in;
  void (*set_real)(void*);
};

template <std::size_t number>
constexpr Entry entry() {
  constexpr std::size_t call = number / kEndingCount;
  using It = Stand<call, number % kEndingCount, std::make_index_sequence<kCalls[call].arguments>>;
  return {reinterpret_cast<void*>(It::in),
          [](void* real) { It::real = reinterpret_cast<decltype(It::real)>(real); }};
}

template <std::size_t... number>
std::array<Entry, sizeof...(number)> all_entries(std::index_sequence<number...>) {
  return {entry<number>()...};
}

// kCallCount * kEndingCount: none of these functions.
std::size_t number_of(std::string_view symbol) {
  constexpr std::size_t kNone = kCallCount * kEndingCount;
  if (symbol.substr(0, 4) != "mpi_") return kNone;
  symbol.remove_prefix(4);
  for (std::size_t call = 0; call < kCallCount; ++call) {
    const std::string_view name = kCalls[call].name;
    if (symbol.substr(0, name.size()) != name) continue;
    for (std::size_t ending = 0; ending < kEndingCount; ++ending)
      if (symbol.substr(name.size()) == kEndings[ending]) return call * kEndingCount + ending;
  }
  return kNone;
}

}  // namespace

void watch_fortran_requests(std::size_t handle_bytes) {
  FortranRequests::set_handle_bytes(handle_bytes);
  static const auto entries = all_entries(std::make_index_sequence<kCallCount * kEndingCount>());
  for_each_object([](const LoadedObject& object) {
    // The MPI's own libraries come after the program's call.
    if (object.file_name().substr(0, 6) == "libmpi") return;
    object.for_each_slot([&object](const char* symbol, void** slot) {
      const std::size_t number = number_of(symbol);
      if (number == entries.size()) return;
      void* real = ::dlsym(RTLD_DEFAULT, symbol);
      if (!real) return;
      entries[number].set_real(real);
      object.redirect(slot, entries[number].stand_in);
    });
  });
}

}  // namespace foretrace::capture
