#include "sim/network/link_usage.hpp"

#include <algorithm>
#include <cassert>

namespace foretrace::sim {
namespace {

// Sums up to here fit, and have a double next to them.
constexpr std::int64_t kMostBusy = std::int64_t{1} << 62;

}  // namespace

std::size_t LinkUsage::slot_of(machine::LinkId carrier) {
  const auto link = static_cast<std::size_t>(carrier.value);
  if (link >= slot_.size()) slot_.resize(std::max(link + 1, 2 * slot_.size()), -1);
  if (slot_[link] < 0) {
    slot_[link] = static_cast<std::int32_t>(sums_.size());
    sums_.push_back({carrier, 0, 0, 0});
  }
  return static_cast<std::size_t>(slot_[link]);
}

void LinkUsage::carried(machine::LinkId carrier, std::uint64_t messages, Bytes bytes, Time busy,
                        Time from, Time to) {
  assert(carrier.valid() && from >= Time() && to >= from && "a carrier and a span of time");
  const std::size_t slot = slot_of(carrier);
  Sum& sum = sums_[slot];
  sum.messages += messages;
  sum.bytes += bytes.count;
  const std::int64_t more = std::min(busy.count_ps(), kMostBusy - sum.busy_ps);
  sum.busy_ps += more;
  if (more != 0) add_history(slot, more, from.count_ps(), to.count_ps());
}

void LinkUsage::carried_by_bins(machine::LinkId carrier, double ps_per_byte, double before,
                                std::int64_t first, std::span<const double> moved) {
  assert(carrier.valid() && !moved.empty() && first >= 0 && first + std::ssize(moved) <= kBins &&
         "a carrier and bins that there are");
  const std::size_t slot = slot_of(carrier);
  Sum& sum = sums_[slot];
  sum.bytes += static_cast<std::uint64_t>(moved.back()) - static_cast<std::uint64_t>(before);
  const std::int64_t begin = busy_ps(before, ps_per_byte);
  std::int64_t given = begin;
  auto bin = static_cast<std::size_t>(first);
  for (const double bytes : moved) {
    const std::int64_t so_far = busy_ps(bytes, ps_per_byte);
    add_to_bin(bin++, slot, so_far - given);
    given = so_far;
  }
  sum.busy_ps += std::min(given - begin, kMostBusy - sum.busy_ps);
}

void LinkUsage::add_to_bin(std::size_t bin, std::size_t slot, std::int64_t ps) {
  if (bin >= busy_.size()) busy_.resize(bin + 1);
  std::vector<std::int64_t>& row = busy_[bin];
  if (slot >= row.size()) row.resize(std::max(slot + 1, std::min(2 * row.size(), sums_.size())));
  row[slot] += ps;
}

// The share of every bin is what the bins up to its end have together, rounded,
// less what went to those before it: so the bins sum up to `busy` exactly.
void LinkUsage::add_history(std::size_t slot, std::int64_t busy, std::int64_t from,
                            std::int64_t to) {
  // A span's end belongs to the bin before it.
  const std::int64_t last = to > from ? to - 1 : from;
  if ((last >> shift_) >= kBins) make_room(last);
  const std::int64_t first_bin = from >> shift_;
  const std::int64_t last_bin = last >> shift_;
  std::int64_t given = 0;
  const double per_ps =
      first_bin == last_bin ? 0 : static_cast<double>(busy) / static_cast<double>(to - from);
  for (std::int64_t bin = first_bin; bin < last_bin; ++bin) {
    const std::int64_t covered = ((bin + 1) << shift_) - from;
    const std::int64_t so_far =
        std::min(busy, static_cast<std::int64_t>(static_cast<double>(covered) * per_ps));
    add_to_bin(static_cast<std::size_t>(bin), slot, so_far - given);
    given = so_far;
  }
  add_to_bin(static_cast<std::size_t>(last_bin), slot, busy - given);
}

void LinkUsage::make_room(std::int64_t last) {
  for (; (last >> shift_) >= kBins; ++shift_) {
    for (std::size_t bin = 0; bin < busy_.size(); ++bin) {
      std::vector<std::int64_t>& into = busy_[bin / 2];
      std::vector<std::int64_t>& row = busy_[bin];
      if (bin % 2 == 0) {
        if (bin > 0) into.swap(row);
        continue;
      }
      if (row.size() > into.size()) into.swap(row);
      for (std::size_t i = 0; i < row.size(); ++i) into[i] += row[i];
    }
    busy_.resize((busy_.size() + 1) / 2);
  }
}

std::vector<LinkLoad> LinkUsage::loads() const {
  std::vector<LinkLoad> loads;
  loads.reserve(sums_.size());
  for (const std::int32_t slot : slot_) {
    if (slot < 0) continue;
    const Sum& sum = sums_[static_cast<std::size_t>(slot)];
    loads.push_back({sum.link, sum.messages, Bytes(sum.bytes), Time::ps(sum.busy_ps)});
  }
  return loads;
}

std::vector<Time> LinkUsage::history(machine::LinkId carrier) const {
  std::vector<Time> history(busy_.size());
  const auto link = static_cast<std::size_t>(carrier.value);
  if (!carrier.valid() || link >= slot_.size() || slot_[link] < 0) return history;
  const auto slot = static_cast<std::size_t>(slot_[link]);
  for (std::size_t bin = 0; bin < busy_.size(); ++bin)
    if (slot < busy_[bin].size()) history[bin] = Time::ps(busy_[bin][slot]);
  return history;
}

std::size_t LinkUsage::memory() const {
  std::size_t bytes = slot_.capacity() * sizeof(slot_[0]) + sums_.capacity() * sizeof(Sum) +
                      busy_.capacity() * sizeof(busy_[0]);
  for (const auto& row : busy_) bytes += row.capacity() * sizeof(row[0]);
  return bytes;
}

}  // namespace foretrace::sim
