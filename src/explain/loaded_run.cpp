#include "explain/loaded_run.hpp"

namespace foretrace::explain {
namespace {

// Notes the call sites of what passes through.
class SiteNoter : public sim::Source {
 public:
  SiteNoter(sim::Source& source, std::vector<std::vector<trace::SiteId>>& sites)
      : source_(&source), sites_(&sites) {}

  int ranks() const override { return source_->ranks(); }
  bool next(WorldRank rank, sim::Operation& operation) override {
    if (!source_->next(rank, operation)) return false;
    (*sites_)[static_cast<std::size_t>(rank.value)].push_back(operation.site);
    return true;
  }
  sim::Joining joining(WorldRank rank) const override { return source_->joining(rank); }
  std::string_view name(trace::NameId id) const override { return source_->name(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return source_->comm(id); }
  std::string end_reason(WorldRank rank) const override { return source_->end_reason(rank); }

 private:
  sim::Source* source_;
  std::vector<std::vector<trace::SiteId>>* sites_;
};

}  // namespace

class LoadedRun::Reader : public sim::MemorySource {
 public:
  explicit Reader(const LoadedRun& run)
      : MemorySource(run.program_), run_(&run), at_(run.sites_.size()) {}

  bool next(WorldRank rank, sim::Operation& operation) override {
    if (!MemorySource::next(rank, operation)) return false;
    const auto r = static_cast<std::size_t>(rank.value);
    operation.site = run_->sites_[r][at_[r]++];
    return true;
  }
  const trace::Site& site(trace::SiteId id) const override { return run_->source_->site(id); }
  std::string describe_site(trace::SiteId id) const override {
    return run_->source_->describe_site(id);
  }
  std::string place(WorldRank rank) const override {
    const auto r = static_cast<std::size_t>(rank.value);
    const trace::SiteId site = at_[r] == 0 ? 0 : run_->sites_[r][at_[r] - 1];
    return site == 0 ? std::string() : describe_site(site);
  }

 private:
  const LoadedRun* run_;
  std::vector<std::size_t> at_;  // by rank: the next call
};

LoadedRun::LoadedRun(std::unique_ptr<sim::Source> source)
    : source_(std::move(source)), sites_(static_cast<std::size_t>(source_->ranks())) {
  SiteNoter noter(*source_, sites_);
  program_ = std::make_shared<sim::Program>(noter);
}

std::unique_ptr<sim::Source> LoadedRun::open() const {
  return std::make_unique<Reader>(*this);
}

}  // namespace foretrace::explain
