// Values of models, worked out by hand in the comments.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "formulas/evaluate.hpp"
#include "machine/machine_file.hpp"

namespace {

using namespace foretrace;
using formulas::Evaluation;
using formulas::parse_model;
using formulas::Values;
using testing::HasSubstr;

// send 10 +- 1 + 2 d us, bcast 100 + 5 p + 1 p d us, barrier 7 p us; d in elements of 4 bytes.
const machine::MachineModel& machine_of_tests() {
  static const machine::MachineModel model = machine::parse_machine(
      "[machine]\nname = \"t\"\nranks = 8\ntime_unit = \"us\"\nelement_bytes = 4\n"
      "[compute]\nstep = 2e-6\n"
      "[[function]]\nname = \"send\"\nclass = \"point-to-point\"\n[[function.regime]]\n"
      "bytes = [0]\nc = [10.0, 1.0]\nk = 2.0\ng = \"d\"\n"
      "[[function]]\nname = \"bcast\"\nclass = \"collective\"\n[[function.regime]]\n"
      "bytes = [0]\nc = 100.0\ns = 5.0\nf = \"p\"\nk = 1.0\ng = \"p d\"\n"
      "[[function]]\nname = \"barrier\"\nclass = \"barrier\"\n[[function.regime]]\n"
      "bytes = [0]\ns = 7.0\nf = \"p\"\nc = 0.0\n",
      "t.toml");
  return model;
}

Evaluation run(const std::string& text, const Values& at = {}) {
  return evaluate(parse_model(text, "m.model"), &machine_of_tests(), at);
}
double avg(const std::string& expression, const Values& at = {}) {
  return run("total = " + expression, at).total.avg;
}
template <class Fault = Error>
std::string error_of(const std::string& text, const Values& at = {}) {
  try {
    run(text, at);
  } catch (const Fault& error) {
    return error.what();
  }
  return "";
}

TEST(Evaluate, ComputesAsGnuplotDoes) {
  EXPECT_DOUBLE_EQ(avg("2 + 3*4"), 14);
  EXPECT_DOUBLE_EQ(avg("2**3**2"), 512);
  EXPECT_DOUBLE_EQ(avg("9 + -2**2"), 5);  // -(2**2)
  EXPECT_DOUBLE_EQ(avg("7 % 4"), 3);
  EXPECT_DOUBLE_EQ(avg("log(exp(2)) + log10(1000) + sqrt(16)"), 9);
  EXPECT_DOUBLE_EQ(avg("ceil(2.1) + floor(2.9) + int(2.9) + abs(-1.0) + sgn(5)"), 9);
  EXPECT_DOUBLE_EQ(avg("p > 4 && p != 5 ? 1 : 2", {{"p", 8}}), 1);
  EXPECT_DOUBLE_EQ(avg("!(p > 4) || p == 8 ? 1 : 2", {{"p", 8}}), 1);
  EXPECT_DOUBLE_EQ(avg("sum [i=1:p] i*i", {{"p", 4}}), 30);
  EXPECT_DOUBLE_EQ(avg("d/p", {{"d", 1001}, {"p", 8}}), 125.125);
  EXPECT_DOUBLE_EQ(avg("6/3"), 2);
}

TEST(Evaluate, RefusesQuotientsThatGnuplotCutsOff) {
  EXPECT_THAT(error_of("\ntotal = 1/2"), HasSubstr("m.model:2: 1/2: gnuplot cuts off"));
  EXPECT_DOUBLE_EQ(avg("1/2.0"), 0.5);
}

TEST(Evaluate, AsksTheMachine) {
  // 40 bytes are 10 elements: 10 + 2 x 10 = 30 us; at the bounds 29 and 31.
  const Evaluation send = run("total = T_send(40)");
  EXPECT_DOUBLE_EQ(send.total.avg, 30e-6);
  EXPECT_DOUBLE_EQ(send.total.min, 29e-6);
  EXPECT_DOUBLE_EQ(send.total.max, 31e-6);
  // 100 + 5 x 4 + 1 x 4 x 10 = 160 us.
  EXPECT_DOUBLE_EQ(avg("T_bcast(p, 40)", {{"p", 4}}), 160e-6);
  EXPECT_DOUBLE_EQ(avg("T_barrier(4)"), 28e-6);
  EXPECT_DOUBLE_EQ(avg("T_send(2, 40)"), 30e-6);
  EXPECT_DOUBLE_EQ(avg("10*T_step"), 20e-6);
  // A bound of its own is the same at all three.
  EXPECT_DOUBLE_EQ(run("total = T_send_max(40)").total.min, 31e-6);
}

TEST(Evaluate, TellsOfStandInsAndExtrapolation) {
  // recv is not there: send stands in.
  const Evaluation result = run("total = T_recv(40) + T_bcast(p, 4)", {{"p", 16}});
  EXPECT_THAT(result.notes, testing::Contains(HasSubstr("recv is not in the machine model; send")));
  EXPECT_THAT(result.notes, testing::Contains(HasSubstr("bcast is extrapolated")));
}

TEST(Evaluate, PhasesAreTheAddendsOfTheTotal) {
  const Evaluation result = run(
      "compute(p,n) = n/p*1e-6\ntotal(p,n) = compute(p,n) + 3*T_barrier(p) - 1e-6 + compute(p,n)",
      {{"p", 4}, {"n", 100}});
  ASSERT_EQ(result.phases.size(), 3u);
  EXPECT_EQ(result.phases[0].name, "compute");  // both calls together: 2 x 25 us
  EXPECT_DOUBLE_EQ(result.phases[0].time.avg, 50e-6);
  EXPECT_EQ(result.phases[1].name, "3*T_barrier(p)");
  EXPECT_DOUBLE_EQ(result.phases[1].time.avg, 84e-6);
  EXPECT_EQ(result.phases[2].name, "1e-6");
  EXPECT_DOUBLE_EQ(result.phases[2].time.avg, -1e-6);
  EXPECT_DOUBLE_EQ(result.total.avg, 133e-6);
}

TEST(Evaluate, GoesIntoATotalOfOneCall) {
  const Evaluation result = run(
      "a(q) = q\nb(q) = 2*q\nrun(x,y) = a(x) + b(y)\ntotal(p,d) = run(d,p)", {{"p", 3}, {"d", 5}});
  ASSERT_EQ(result.phases.size(), 2u);
  EXPECT_EQ(result.phases[0].name, "a");
  EXPECT_DOUBLE_EQ(result.phases[0].time.avg, 5);
  EXPECT_DOUBLE_EQ(result.phases[1].time.avg, 6);
}

TEST(Evaluate, WhatIsGivenCountsBeforeTheFile) {
  const std::string text = "c = 2.0\nc_min = 1.0\nc_max = 4.0\nb = c*2\ntotal(p) = b + p";
  const Evaluation own = run(text, {{"p", 0}});
  EXPECT_DOUBLE_EQ(own.total.min, 2);
  EXPECT_DOUBLE_EQ(own.total.avg, 4);
  EXPECT_DOUBLE_EQ(own.total.max, 8);
  const Evaluation given = run(text, {{"p", 0}, {"c", 3}});
  EXPECT_DOUBLE_EQ(given.total.min, 6);
  EXPECT_DOUBLE_EQ(given.total.max, 6);
  // A guess at a step of computation is no machine's.
  EXPECT_THAT(own.notes, testing::Contains(HasSubstr(
                             "c = 2.0 (1.0 to 4.0) is the model file's, whatever the machine")));
  EXPECT_TRUE(given.notes.empty());
  EXPECT_TRUE(evaluate(parse_model(text, "m.model"), nullptr, {{"p", 0}}).notes.empty());
}

TEST(Evaluate, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of<UsageError>("\ntotal(p) = n*p", {{"p", 1}}),
              HasSubstr("m.model:2: 'n' has no value; give it as in --at n=8"));
  EXPECT_THAT(error_of<UsageError>("total(p) = p", {{"p", 1}, {"m", 2}}),
              HasSubstr("has no parameter 'm'; it has p"));
  EXPECT_THAT(error_of("total = f(1)"), HasSubstr("there is no function 'f'"));
  EXPECT_THAT(error_of("f(a) = a\ntotal = f(1,2)"), HasSubstr("has 1 argument, here it gets 2"));
  EXPECT_THAT(error_of("total = T_bcast(8)"), HasSubstr("takes (p,d)"));
  EXPECT_THAT(error_of("total = T_nonsense(8)"), HasSubstr("on any machine"));
  EXPECT_THAT(error_of("total = T_bcast(2.5, 1)"), HasSubstr("2.5 ranks"));
  EXPECT_THAT(error_of("total = T_send(-1)"), HasSubstr("-1 bytes"));
  EXPECT_THAT(error_of("a = b\nb = a\ntotal = a"), HasSubstr("is defined by itself"));
  EXPECT_THAT(error_of("f(n) = f(n+1)\ntotal = f(1)"), HasSubstr("calls itself without an end"));
  EXPECT_THAT(error_of("total = sum [i=1:1e12] 1.0"), HasSubstr("does not come to an end"));
  EXPECT_THAT(error_of("total = 1.0/0"), HasSubstr("divides by zero"));
  EXPECT_THAT(error_of("total = log(0)"), HasSubstr("no finite number"));
  EXPECT_THAT(error_of("total = -1"), HasSubstr("is negative"));
}

TEST(Evaluate, DoesWithoutAMachine) {
  EXPECT_DOUBLE_EQ(evaluate(parse_model("total = 3.0", "m"), nullptr, {}).total.avg, 3);
  EXPECT_THROW(evaluate(parse_model("total = T_send(1)", "m"), nullptr, {}), UsageError);
}

}  // namespace
