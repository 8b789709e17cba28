#include "callers/stack_walk.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <cstring>
#include <new>
#include <string_view>

namespace foretrace::callers {
namespace {

constexpr std::uint32_t kSlots = 4096;
constexpr int kMostUnwound = 64;

std::uint32_t walk_slot(std::uint64_t address) {
  return static_cast<std::uint32_t>((address * 0x9E3779B97F4A7C15u) >> 40) & (kSlots - 1);
}

struct Stack {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Of the calling thread. Programs may bring stacks of their own, which are none
// of these.
const Stack& own_stack() {
  static thread_local const Stack stack = [] {
    Stack found;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return found;
    void* base = nullptr;
    std::size_t size = 0;
    if (::pthread_attr_getstack(&attributes, &base, &size) == 0) {
      found.begin = reinterpret_cast<std::uint64_t>(base);
      found.end = found.begin + size;
    }
    ::pthread_attr_destroy(&attributes);
    return found;
  }();
  return stack;
}

// The loaded object that holds an address.
struct Holder {
  const void* base = nullptr;  // none: nullptr
  const char* path = "";
};

// dladdr() looks for the nearest symbol, too, which takes long in a large library.
Holder holder_of(const void* address) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found;
  if (::_dl_find_object(const_cast<void*>(address), &found) != 0) return {};
  return {found.dlfo_map_start, found.dlfo_link_map->l_name};
#else
  Dl_info found;
  if (::dladdr(address, &found) == 0) return {};
  return {found.dli_fbase, found.dli_fname};
#endif
}

struct Unwinding {
  std::uint64_t from_cfa;
  bool begun = false;
  int count = 0;
  std::array<std::uint64_t, kMostUnwound> addresses{};
  std::array<std::uint64_t, kMostUnwound> cfas{};  // where the frame below each ends
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* to) {
  auto& unwinding = *static_cast<Unwinding*>(to);
  const std::uint64_t address = _Unwind_GetIP(context);
  const std::uint64_t cfa = _Unwind_GetCFA(context);
  if (!unwinding.begun) {
    if (cfa < unwinding.from_cfa) return _URC_NO_REASON;
    unwinding.begun = true;
  }
  if (address == 0 || unwinding.count == kMostUnwound) return _URC_END_OF_STACK;
  const auto i = static_cast<std::size_t>(unwinding.count++);
  unwinding.addresses[i] = address;
  unwinding.cfas[i] = cfa;
  return _URC_NO_REASON;
}

}  // namespace

StackWalker::StackWalker(int depth, const void* own) : depth_(static_cast<std::uint32_t>(depth)) {
  if (own) own_base_ = holder_of(own).base;
}

bool StackWalker::is_left_out(std::uint64_t address) const noexcept {
  const Holder holder = holder_of(reinterpret_cast<const void*>(address - 1));
  if (!holder.base) return false;
  if (holder.base == own_base_) return true;
  const char* slash = std::strrchr(holder.path, '/');
  const std::string_view name = slash ? slash + 1 : holder.path;
  return name.substr(0, 6) == "libmpi";
}

const StackWalker::Frame* StackWalker::find(std::uint64_t address) const noexcept {
  if (frames_.empty()) return nullptr;
  for (std::uint32_t i = walk_slot(address);; i = (i + 1) & (kSlots - 1)) {
    if (frames_[i].address == address) return &frames_[i];
    if (frames_[i].address == 0) return nullptr;
  }
}

void StackWalker::remember(const Frame& frame) noexcept {
  try {
    if (frames_.empty()) frames_.resize(kSlots);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (auto* known = const_cast<Frame*>(find(frame.address))) {
    *known = frame;
    return;
  }
  if (used_ * 4 >= kSlots * 3) return;
  ++used_;
  std::uint32_t i = walk_slot(frame.address);
  while (frames_[i].address != 0) i = (i + 1) & (kSlots - 1);
  frames_[i] = frame;
}

bool StackWalker::guess(std::uint64_t address, std::uint64_t cfa, Chain& chain) const noexcept {
  chain.depth = 0;
  const Stack& stack = own_stack();
  for (int i = 0; i < kMostUnwound; ++i) {
    const Frame* frame = find(address);
    if (!frame) return false;
    if (!frame->left_out) {
      chain.frames[chain.depth++] = address;
      if (chain.depth == depth_) return true;
    }
    if (frame->size == 0) return true;
    cfa += frame->size;
    if (cfa <= stack.begin || cfa > stack.end) return false;
    std::memcpy(&address, reinterpret_cast<const char*>(cfa) - sizeof address, sizeof address);
  }
  return false;
}

void StackWalker::unwind(std::uint64_t address, std::uint64_t cfa, Chain& chain) noexcept {
  Unwinding unwinding{cfa};
  _Unwind_Backtrace(visit, &unwinding);
  chain.depth = 0;
  // Without unwind tables at least the caller is known.
  if (unwinding.count == 0 || unwinding.addresses[0] != address) {
    unwinding.count = 1;
    unwinding.addresses[0] = address;
    unwinding.cfas[0] = cfa;
  }
  for (int i = 0; i < unwinding.count && chain.depth < depth_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Frame frame;
    frame.address = unwinding.addresses[at];
    if (i + 1 < unwinding.count) frame.size = unwinding.cfas[at + 1] - unwinding.cfas[at];
    frame.left_out = is_left_out(frame.address);
    if (!frame.left_out) chain.frames[chain.depth++] = frame.address;
    remember(frame);
  }
}

}  // namespace foretrace::callers
