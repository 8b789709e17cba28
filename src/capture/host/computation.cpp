#include "capture/host/computation.hpp"

#include <utility>

#include "compute/rules.hpp"

namespace foretrace::capture {

using compute::Kind;

namespace {

// A moment before the program's own: by the time it has initialised MPI, the
// counter's rate is known without waiting.
const TickReading at_load = read_both_clocks();

}  // namespace

std::string Computation::start(const Settings& settings, machine::MachineModel* model,
                               WorldRank rank, const std::vector<compute::NodeRanks>& ranks,
                               double slower) {
  spec_ = settings.compute;
  counts_waits_ = settings.counts_waits;
  sampler_ = compute::KernelSampler(settings.sample);
  if (settings.count != compute::Counter::none) counter_.open(settings.count);
  if (!model) {
    CpuClock::use_counter(at_load);
    return {};
  }
  const machine::ComputeCosts costs = machine::read_compute_costs(settings.machine);
  if (spec_.kind == Kind::counted) model->compute_step = compute::cost_of(spec_.counter, costs);
  if (spec_.step) model->compute_step = *spec_.step;
  compute::Rules rules =
      compute::read_rules(spec_, settings.scale_from, costs, static_cast<int>(ranks.size()), ranks);
  slower_ = slower;
  model->compute_step *= slower_;
  scale_ = rules.scale * slower_;
  needs_cpu_ = rules.needs_cpu;
  if (needs_cpu_) CpuClock::use_counter(at_load);
  if (rules.make) rule_ = rules.make(rank);
  return std::move(rules.note);
}

Time Computation::time_of(const compute::Work& work, const trace::Event& event, const char* name) {
  if (!rule_) return time_of(work);
  return rule_->before({event.kind, name, work.cpu, work.steps, 1, event.count == 0})
      .scaled(slower_);
}

compute::Work Computation::at_reading_of(Thread& thread) const {
  if (needs_cpu_) thread.added.cpu += thread.cpu.stop();
  compute::Work work = thread.added;
  if (needs_cpu_) work.cpu += thread.slept + slept_so_far.asked;
  if (needs_cpu_ && counts_waits_) work.cpu += thread.waits.since(thread.cpu, slept_so_far.passed);
  if (counts()) work.steps += static_cast<double>(counter_.stop());
  if (needs_cpu_) thread.cpu.resume();
  return work;
}

Time Computation::at_reading(Thread& thread) const {
  const compute::Work work = at_reading_of(thread);
  if (rule_) return Time();
  return timing_ ? time_of(work) : work.cpu;
}

Time Computation::until_reading(Thread& thread) const {
  const compute::Work work = at_reading_of(thread);
  return timing_ && !rule_ ? time_of(work) : work.cpu;
}

Time Computation::on_clock(Time computed) const {
  if (!timing_ || rule_) return computed;
  return spec_.kind == Kind::measured ? computed.scaled(scale_) : Time();
}

Time Computation::off_clock(Time held_up) const {
  const bool scales = timing_ && !rule_ && spec_.kind == Kind::measured && scale_ > 0;
  return scales ? held_up.scaled(1 / scale_) : held_up;
}

// Without a rule.
Time Computation::time_of(const compute::Work& work) const {
  switch (spec_.kind) {
    case Kind::annotated:
    case Kind::counted:
      return timing_->compute(work.steps);
    case Kind::measured:
      return work.cpu.scaled(scale_);
    default:
      return Time();
  }
}

bool Computation::kernel_begin(const char* name, double key) {
  if (!sampler_.samples()) return true;
  const compute::KernelSampler::Answer answer = sampler_.begin(name, key, so_far(), calls_);
  thread_->added += answer.work;
  return answer.runs;
}

void Computation::kernel_end(const char* name) {
  if (sampler_.samples()) sampler_.end(name, so_far(), calls_);
}

Time Computation::together(const trace::Event& merged, const trace::Event& event) const {
  if (timing_ && spec_.kind == Kind::counted) return timing_->compute(merged.steps + event.steps);
  return merged.compute + event.compute;
}

}  // namespace foretrace::capture
