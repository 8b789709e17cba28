#include "imported/smpi_platform.hpp"

#include <expat.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "imported/lines.hpp"

namespace foretrace::imported {
namespace {

// Of a range of sizes: intercept and slope, or a factor alone.
struct Values {
  double first = 0;
  double second = 0;
};
using Ranges = std::map<std::uint64_t, Values>;  // by the size from which on they hold

const Values& at(const Ranges& ranges, std::uint64_t bytes) {
  const auto above = ranges.upper_bound(bytes);
  return above == ranges.begin() ? above->second : std::prev(above)->second;
}

struct Platform {
  std::map<std::string, Ranges, std::less<>> ranges;   // os, or, ois, bw-factor, lat-factor
  std::map<std::string, double, std::less<>> numbers;  // thresholds, wtime
  std::optional<LinkOfPlatform> link;
};

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimes[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kRates[] = {{"GBps", 1e9},   {"MBps", 1e6},   {"kBps", 1e3}, {"Bps", 1},
                           {"Gbps", 125e6}, {"Mbps", 125e3}, {"kbps", 125}, {"bps", 0.125}};

class XmlReader {
 public:
  // `wants_cluster`: whether the file's own <cluster> says what its factors belong to.
  XmlReader(const InputFile& file, bool wants_cluster)
      : file_(file),
        wants_cluster_(wants_cluster),
        parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {}

  Platform read() {
    if (file_.text.size() > INT_MAX) throw Error(file_.name + ": is too large");
    XML_SetUserData(parser_.get(), this);
    XML_SetStartElementHandler(
        parser_.get(), [](void* self, const XML_Char* element, const XML_Char** attributes) {
          static_cast<XmlReader*>(self)->begin(element, attributes);
        });
    const bool good = XML_Parse(parser_.get(), file_.text.data(),
                                static_cast<int>(file_.text.size()), XML_TRUE) == XML_STATUS_OK;
    if (!message_.empty()) throw Error(message_);
    if (!good)
      throw Error(place() + "not XML: " + XML_ErrorString(XML_GetErrorCode(parser_.get())));
    return std::move(platform_);
  }

 private:
  std::string place() const {
    return file_.name + ":" + std::to_string(XML_GetCurrentLineNumber(parser_.get())) + ": ";
  }
  // Nothing may be thrown through the parser.
  void fail(const std::string& message) {
    if (message_.empty()) message_ = place() + message;
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  static std::string_view value_of(const XML_Char** attributes, std::string_view key) {
    for (; *attributes; attributes += 2)
      if (key == attributes[0]) return attributes[1];
    return {};
  }

  void begin(std::string_view element, const XML_Char** attributes) {
    if (element == "prop") read_property(attributes);
    if (element == "cluster") read_cluster(attributes);
  }

  std::optional<double> number(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, code] = std::from_chars(text.data(), end, value);
    if (code == std::errc() && last == end && std::isfinite(value) && value >= 0) return value;
    fail("expected a number of 0 or more, found '" + shown(text) + "'");
    return std::nullopt;
  }

  void read_property(const XML_Char** attributes) {
    std::string_view id = value_of(attributes, "id");
    const std::string_view value = value_of(attributes, "value");
    if (!id.starts_with("smpi/")) return;
    id.remove_prefix(5);
    constexpr std::array kLists{"os", "or", "ois", "bw-factor", "lat-factor"};
    constexpr std::array kNumbers{"async-small-thresh", "async-small-thres",
                                  "send-is-detached-thresh", "send-is-detached-thres", "wtime"};
    if (std::ranges::find(kLists, id) != kLists.end()) {
      const bool factor = id.ends_with("-factor");
      read_ranges(platform_.ranges[std::string(id)], value, factor);
    } else if (std::ranges::find(kNumbers, id) != kNumbers.end()) {
      if (id.ends_with("thres")) id = id == "async-small-thres" ? kNumbers[0] : kNumbers[2];
      if (const auto read = number(value)) platform_.numbers[std::string(id)] = *read;
    }
  }

  // "0:2.7e-06:2.4e-10;1420:...": from this size on, intercept, slope.
  void read_ranges(Ranges& ranges, std::string_view text, bool factor) {
    constexpr double kMost = 1e15;
    for (const std::string_view item : fields_of(text, ';')) {
      const auto fields = fields_of(item, ':');
      if (fields.size() != (factor ? 2U : 3U))
        return fail("expected SIZE:" + std::string(factor ? "FACTOR" : "INTERCEPT:SLOPE") +
                    ", found '" + shown(item) + "'");
      const auto from = number(fields[0]);
      const auto first = from ? number(fields[1]) : std::nullopt;
      const auto second = factor || !first ? first : number(fields[2]);
      if (!second) return;
      if (*from > kMost || *from != std::floor(*from))
        return fail("expected a whole number of bytes, found '" + shown(fields[0]) + "'");
      if (!ranges.emplace(static_cast<std::uint64_t>(*from), Values{*first, *second}).second)
        return fail("two ranges begin at " + shown(fields[0]));
    }
  }

  std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
    for (const Unit& unit : units)
      if (text.ends_with(unit.name) &&
          text.substr(0, text.size() - unit.name.size()).find_first_not_of("0123456789.eE+-") ==
              text.npos)
        if (const auto value = number(text.substr(0, text.size() - unit.name.size())))
          return *value * unit.factor;
    return number(text);
  }

  // A route leads over the sender's link, the backbone where there is one, and the receiver's link,
  // and past the hosts' limiters: its latency is the sum of theirs, its bandwidth the least
  // (SimGrid's reference of platforms, <cluster>). A rate of 0 is none.
  void read_cluster(const XML_Char** attributes) {
    if (!wants_cluster_) return;
    constexpr std::string_view kGiveLink = "; give that of a route by --link LATENCY,BANDWIDTH";
    if (platform_.link)
      return fail("a second <cluster>; only platforms of one are read" + std::string(kGiveLink));
    const std::string_view topology = value_of(attributes, "topology");
    if (!topology.empty() && topology != "FLAT")
      return fail("the routes of a cluster of topology '" + shown(topology) +
                  "' differ from each other" + std::string(kGiveLink));
    const auto latency = quantity(value_of(attributes, "lat"), kTimes);
    const auto bandwidth = latency ? quantity(value_of(attributes, "bw"), kRates) : std::nullopt;
    if (!bandwidth) return;
    LinkOfPlatform route{2 * *latency, *bandwidth};
    for (const char* const further : {"bb_bw", "limiter_link"}) {
      const auto rate = value_of(attributes, further);
      const auto most = rate.empty() ? std::optional(0.0) : quantity(rate, kRates);
      if (!most) return;
      if (*most > 0) route.bandwidth = std::min(route.bandwidth, *most);
    }
    if (const auto wait = value_of(attributes, "bb_lat"); !wait.empty()) {
      const auto more = quantity(wait, kTimes);
      if (!more) return;
      route.latency += *more;
    }
    platform_.link = route;
  }

  const InputFile& file_;
  bool wants_cluster_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  Platform platform_;
  std::string message_;
};

class Model {
 public:
  Model(const InputFile& file, const Platform& platform, const LinkOfPlatform& link)
      : file_(file), platform_(platform), link_(link) {}

  machine::MachineModel make();

 private:
  const Ranges& ranges(std::string_view name) const {
    return platform_.ranges.at(std::string(name));
  }
  bool is_rendezvous(std::uint64_t bytes) const { return threshold_ && bytes >= *threshold_; }
  Values transfer(std::uint64_t bytes) const {
    return {link_.latency * at(ranges("lat-factor"), bytes).first,
            1 / (link_.bandwidth * at(ranges("bw-factor"), bytes).first)};
  }
  Values message(std::uint64_t bytes) const {
    const Values os = at(ranges("os"), bytes);
    const Values orecv = at(ranges("or"), bytes);
    const Values moved = transfer(bytes);
    return {os.first + moved.first + orecv.first, os.second + moved.second + orecv.second};
  }
  template <class ValuesAt>
  void add(const std::string& name, const std::string& method, ValuesAt values);

  const InputFile& file_;
  const Platform& platform_;
  LinkOfPlatform link_;
  std::optional<std::uint64_t> threshold_;
  std::set<std::uint64_t> begins_{0};
  machine::MachineModel model_;
};

template <class ValuesAt>
void Model::add(const std::string& name, const std::string& method, ValuesAt values) {
  machine::Function function;
  function.name = name;
  function.function_class = "point-to-point";
  function.method = method;
  for (auto from = begins_.begin(); from != begins_.end(); ++from) {
    const Values line = values(*from);
    if (!std::isfinite(line.first) || !std::isfinite(line.second))
      throw Error(file_.name + ": a time of '" + name + "' is not finite; is a bw-factor 0?");
    machine::Regime regime;
    regime.from = Bytes(*from);
    if (std::next(from) != begins_.end()) regime.to = Bytes(*std::next(from) - 1);
    regime.equation.terms = {{machine::Factor::one, {line.first, 0}},
                             {machine::Factor::d, {line.second, 0}}};
    function.regimes.push_back(std::move(regime));
  }
  model_.functions.emplace(name, std::move(function));
}

machine::MachineModel Model::make() {
  constexpr std::array kNeeded{"os", "or", "bw-factor", "lat-factor"};
  for (const char* name : kNeeded)
    if (!platform_.ranges.contains(name))
      throw Error(file_.name + ": has no <prop id=\"smpi/" + name + "\">, which a model needs");
  for (const auto& [name, list] : platform_.ranges)
    for (const auto& [from, values] : list) begins_.insert(from);
  const auto detached = platform_.numbers.find("send-is-detached-thresh");
  if (detached != platform_.numbers.end() && detached->second < 1e15) {
    threshold_ = static_cast<std::uint64_t>(detached->second);
    model_.loggps.sync_threshold = Bytes(*threshold_);
    begins_.insert(*threshold_);
  }
  add("send", "SMPI's os; what waits for its receiver: the whole message",
      [&](std::uint64_t bytes) {
        return is_rendezvous(bytes) ? message(bytes) : at(ranges("os"), bytes);
      });
  add("recv", "SMPI's os + latency x lat-factor + bytes / (bandwidth x bw-factor) + or",
      [&](std::uint64_t bytes) { return message(bytes); });
  add("recvmin", "SMPI's or; what waits for its receiver: the whole message",
      [&](std::uint64_t bytes) {
        return is_rendezvous(bytes) ? message(bytes) : at(ranges("or"), bytes);
      });
  add("pingpong", "twice recv", [&](std::uint64_t bytes) {
    const Values one = message(bytes);
    return Values{2 * one.first, 2 * one.second};
  });
  if (platform_.ranges.contains("ois"))
    add("isend1", "SMPI's ois", [&](std::uint64_t bytes) { return at(ranges("ois"), bytes); });
  if (const auto wtime = platform_.numbers.find("wtime"); wtime != platform_.numbers.end()) {
    begins_ = {0};
    add("wtime", "SMPI's wtime", [&](std::uint64_t) { return Values{wtime->second, 0}; });
    model_.functions.at("wtime").function_class = "local";
  }
  return std::move(model_);
}

}  // namespace

ImportedModel read_smpi_platform(const InputFile& file, const Provenance& provenance,
                                 const std::optional<LinkOfPlatform>& link) {
  const Platform platform = XmlReader(file, !link).read();
  if (!link && !platform.link)
    throw Error(file.name +
                ": has no <cluster lat= bw=> that its factors belong to; give --link "
                "LATENCY,BANDWIDTH");
  const LinkOfPlatform used = link.value_or(platform.link.value_or(LinkOfPlatform{}));
  if (!(used.bandwidth > 0)) throw Error(file.name + ": the bandwidth must be above 0");
  ImportedModel imported;
  imported.model = Model(file, platform, used).make();
  set_provenance(imported.model, provenance);
  imported.notes.emplace_back(
      "the platform says nothing of the errors of its parameters: predictions have no interval");
  return imported;
}

}  // namespace foretrace::imported
