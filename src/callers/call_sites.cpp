#include "callers/call_sites.hpp"

#include <exception>
#include <filesystem>
#include <sstream>

#include "base/loaded_object.hpp"

namespace foretrace::callers {
namespace {

constexpr std::size_t kFirstSlots = 64;

std::size_t slot_of(std::uint64_t address, std::size_t slots) {
  return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> 32) & (slots - 1);
}

}  // namespace

// Of an address in no object (code made at run time): no object.
trace::Site CallSites::site_of(std::uint64_t address) const {
  if (PythonLines::is_line(address)) return python_ ? python_->site(address) : trace::Site();
  trace::Site site;
  for_each_object([&](const LoadedObject& object) {
    if (!object.holds_return_to(address)) return;
    site.object = object.file();
    site.offset = address - object.base();
  });
  return site;
}

CallSites::Known* CallSites::known(std::uint64_t address) noexcept {
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

std::string CallSites::describe(std::uint64_t number) const {
  for (const Known& known : known_) {
    if (number == 0 || known.number != number) continue;
    const trace::Site place = site_of(known.address);
    std::ostringstream text;
    text << std::filesystem::path(place.object).filename().string();
    if (PythonLines::is_line(known.address))
      text << ":" << place.offset;
    else
      text << "+0x" << std::hex << place.offset;
    return text.str();
  }
  return {};
}

CallSites::Known* CallSites::add(std::uint64_t address, Define define) {
  if (used_ == kMost) return nullptr;
  if (used_ * 2 >= known_.size()) grow();
  if (!walker_) walker_ = std::make_unique<StackWalker>(1, own_);
  Known known{address, 0, false, false};
  if (!PythonLines::is_line(address)) known.left_out = walker_->is_left_out(address);
  if (!known.left_out)
    if (const trace::Site site = site_of(address); !site.object.empty()) {
      const std::string file = std::filesystem::path(site.object).filename().string();
      known.by_python = !PythonLines::is_line(address) && PythonLines::is_extension(file);
      if (known.by_python && !python_) python_ = std::make_unique<PythonLines>();
      if (!known.by_python) known.number = define(site);
    }
  std::size_t i = slot_of(address, known_.size());
  while (known_[i].address != 0) i = (i + 1) & (known_.size() - 1);
  known_[i] = known;
  ++used_;
  return &known_[i];
}

const CallSites::Known* CallSites::at(std::uint64_t address, Define define) {
  const Known* const found = known(address);
  return found ? found : add(address, define);
}

// Above the library that calls for the program; 0: not known.
std::uint64_t CallSites::program_frame(const CallPoint& point) {
  const auto address = reinterpret_cast<std::uint64_t>(point.address);
  const auto cfa = reinterpret_cast<std::uint64_t>(point.cfa);
  Chain chain;
  if (!walker_->guess(address, cfa, chain)) walker_->unwind(address, cfa, chain);
  return chain.depth == 0 ? 0 : chain.frames[0];
}

// Of the line that a Python program is at while the library at `address` calls; where that
// is not known the library has to do.
std::uint64_t CallSites::number_in_python(std::uint64_t address, Define define) {
  std::uint64_t line = 0;
  if (python_->find(&line, 1) == 1)
    if (const Known* place = at(line, define)) return place->number;
  Known& library = *known(address);
  if (library.number == 0) library.number = define(site_of(address));
  return library.number;
}

CallSites::Found CallSites::search(const CallPoint& point, Define define) noexcept {
  Found result;
  const auto address = reinterpret_cast<std::uint64_t>(point.address);
  if (address == 0) return result;
  try {
    const Known* place = at(address, define);
    if (!place) return result;
    if (!place->left_out && !place->by_python) {
      recent_[place_in_recent(point.address)] = {point.address, place->number};
      return {place->number, false};
    }
    result.by_library = place->left_out;
    if (place->left_out) {
      const std::uint64_t frame = program_frame(point);
      place = frame != 0 ? at(frame, define) : nullptr;
      if (!place) return result;
    }
    result.number = place->by_python ? number_in_python(place->address, define) : place->number;
    return result;
  } catch (const std::exception&) {
    return result;
  }
}

}  // namespace foretrace::callers
