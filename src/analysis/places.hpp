// PlaceIds: the places in a program that calls come from, numbered by what
// people know them as. Several return addresses may be one place: a line that
// was unrolled.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/tell_place.hpp"

namespace foretrace::analysis {

using PlaceId = std::uint32_t;  // 0: not known

class PlaceIds {
 public:
  // `sites` may grow; without `tell` nothing is known.
  PlaceIds(const std::vector<trace::Site>& sites, const trace::TellPlace& tell)
      : sites_(sites), tell_(tell), texts_(1) {}

  PlaceId of(trace::SiteId site) {
    if (site == 0 || !tell_) return 0;
    if (ids_.size() < site) ids_.resize(site, kNotAsked);
    PlaceId& id = ids_[site - 1];
    if (id == kNotAsked) id = number(tell_(sites_.at(site - 1)));
    return id;
  }
  const std::string& text(PlaceId id) const { return texts_[id]; }

 private:
  static constexpr PlaceId kNotAsked = UINT32_MAX;

  PlaceId number(const std::string& text) {
    if (text.empty()) return 0;
    const auto [known, added] = by_text_.try_emplace(text, static_cast<PlaceId>(texts_.size()));
    if (added) texts_.push_back(text);
    return known->second;
  }

  const std::vector<trace::Site>& sites_;
  const trace::TellPlace& tell_;
  std::vector<PlaceId> ids_;  // by site
  std::vector<std::string> texts_;
  std::map<std::string, PlaceId> by_text_;
};

}  // namespace foretrace::analysis
