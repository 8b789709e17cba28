#include "capture/call_sites.hpp"

#include <filesystem>
#include <new>
#include <sstream>

#include "base/loaded_object.hpp"

namespace foretrace::capture {
namespace {

constexpr std::size_t kFirstSlots = 256;

std::size_t slot_of(std::uint64_t address, std::size_t slots) {
  return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> 32) & (slots - 1);
}

// Of an address in no object (code made at run time): no object.
trace::Site site_of(std::uint64_t address) {
  trace::Site site;
  for_each_object([&](const LoadedObject& object) {
    if (!object.holds_return_to(address)) return;
    site.object = object.file();
    site.offset = address - object.base();
  });
  return site;
}

}  // namespace

CallSites::Known* CallSites::find(std::uint64_t address) noexcept {
  if (known_.empty()) return nullptr;
  for (std::size_t i = slot_of(address, known_.size());; i = (i + 1) & (known_.size() - 1)) {
    if (known_[i].address == address) return &known_[i];
    if (known_[i].address == 0) return nullptr;
  }
}

// Never more than half full, so that a search ends soon.
void CallSites::grow() {
  const std::size_t slots = known_.empty() ? kFirstSlots : known_.size() * 2;
  std::vector<Known> larger(slots);
  for (const Known& known : known_) {
    if (known.address == 0) continue;
    std::size_t i = slot_of(known.address, slots);
    while (larger[i].address != 0) i = (i + 1) & (slots - 1);
    larger[i] = known;
  }
  known_.swap(larger);
}

std::string CallSites::describe(trace::SiteId site) const {
  for (const Known& known : known_) {
    if (site == 0 || known.site != site) continue;
    const trace::Site place = site_of(known.address);
    std::ostringstream text;
    text << std::filesystem::path(place.object).filename().string() << "+0x" << std::hex
         << place.offset;
    return text.str();
  }
  return {};
}

CallSites::Known* CallSites::add(std::uint64_t address, trace::TraceWriter& writer) {
  if (used_ == kMost) return nullptr;
  if (used_ * 2 >= known_.size()) grow();
  if (!walker_) walker_.emplace(1, own_);
  Known known{address, 0, walker_->is_left_out(address)};
  if (!known.left_out)
    if (const trace::Site site = site_of(address); !site.object.empty())
      known.site = writer.define_site(site);
  std::size_t i = slot_of(address, known_.size());
  while (known_[i].address != 0) i = (i + 1) & (known_.size() - 1);
  known_[i] = known;
  ++used_;
  return &known_[i];
}

trace::SiteId CallSites::search(const CallPoint& point, trace::TraceWriter& writer) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(point.address);
  if (address == 0) return 0;
  try {
    const Known* known = find(address);
    if (!known) known = add(address, writer);
    if (!known) return 0;
    if (!known->left_out) {
      recent_[place_in_recent(point.address)] = {point.address, known->site};
      return known->site;
    }
    const auto cfa = reinterpret_cast<std::uint64_t>(point.cfa);
    Chain chain;
    if (!walker_->guess(address, cfa, chain)) walker_->unwind(address, cfa, chain);
    if (chain.depth == 0) return 0;
    known = find(chain.frames[0]);
    if (!known) known = add(chain.frames[0], writer);
    return known ? known->site : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace foretrace::capture
