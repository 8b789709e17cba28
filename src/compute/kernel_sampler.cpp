#include "compute/kernel_sampler.hpp"

#include <algorithm>

namespace foretrace::compute {

KernelSampler::Answer KernelSampler::begin(std::string_view name, double key, const Work& so_far,
                                           std::uint64_t calls) {
  if (!samples()) return {};
  // NaN is no key: it would not be found again.
  const auto entry =
      kernels_.try_emplace({std::string(name), key == key ? key : 0}, Kernel()).first;
  Kernel& kernel = entry->second;
  const bool known = kernel.taken.size() >= static_cast<std::size_t>(samples_);
  if (!known || kernel.makes_calls) {
    open_.push_back({entry->first.first, &kernel, so_far, calls});
    return {};
  }
  ++kernel.left_out;
  // In the order in which they were taken, again and again: the same every time.
  const Work work = kernel.taken[kernel.next];
  kernel.next = (kernel.next + 1) % kernel.taken.size();
  return {false, work};
}

void KernelSampler::end(std::string_view name, const Work& so_far, std::uint64_t calls) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [name](const Open& open) { return open.name == name; });
  if (found == open_.rend()) return;
  Kernel& kernel = *found->kernel;
  if (calls != found->calls)
    kernel.makes_calls = true;
  else if (!kernel.makes_calls && kernel.taken.size() < static_cast<std::size_t>(samples_))
    kernel.taken.push_back({so_far.cpu - found->begin.cpu, so_far.steps - found->begin.steps});
  // Those inside it that never ended end with it.
  open_.erase(std::prev(found.base()), open_.end());
}

std::vector<std::pair<std::string, std::uint64_t>> KernelSampler::left_out() const {
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [key, kernel] : kernels_)
    if (kernel.left_out > 0) sums[key.first] += kernel.left_out;
  return {sums.begin(), sums.end()};
}

std::string KernelSampler::summary() const {
  std::string text;
  for (const auto& [name, count] : left_out())
    text += (text.empty() ? "rank 0 left out " : ", ") + std::to_string(count) + " of " + name;
  for (const std::string& name : refused())
    text += (text.empty() ? "" : "; ") +
            ("kernel " + name + " makes MPI calls or marks and is always executed");
  return text;
}

std::vector<std::string> KernelSampler::refused() const {
  std::vector<std::string> names;
  for (const auto& [key, kernel] : kernels_)
    if (kernel.makes_calls && (names.empty() || names.back() != key.first))
      names.push_back(key.first);
  return names;
}

}  // namespace foretrace::compute
