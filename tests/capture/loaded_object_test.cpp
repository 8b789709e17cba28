#include "base/loaded_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "callers/fortran_calls.hpp"
#include "capture/host/fortran.hpp"
#include "capture/host/fortran_requests.hpp"
#include "capture/host/imports.hpp"

namespace foretrace::capture {
namespace {

using ::testing::Contains;

// The executable is the object without a name.
void with_executable(FunctionRef<void(const LoadedObject&)> visit) {
  bool first = true;
  for_each_object([&](const LoadedObject& object) {
    if (first && object.file_name().empty()) visit(object);
    first = false;
  });
}

pid_t stand_in() {
  return -7;
}

TEST(LoadedObject, ListsImports) {
  std::vector<std::string> imports;
  with_executable([&](const LoadedObject& object) {
    object.for_each_import([&](const char* symbol) { imports.emplace_back(symbol); });
  });
  EXPECT_THAT(imports, Contains("getppid"));
  EXPECT_THAT(imports, ::testing::Not(Contains("getpgrp")));
}

TEST(LoadedObject, RedirectedCallsGoElsewhereUntilPutBack) {
  const pid_t parent = ::getppid();
  ASSERT_GT(parent, 0);
  int slots = 0;
  with_executable([&](const LoadedObject& object) {
    object.for_each_slot([&](const char* symbol, void** slot) {
      if (std::string_view(symbol) != "getppid") return;
      ++slots;
      void* const real = *slot;
      ASSERT_TRUE(object.redirect(slot, reinterpret_cast<void*>(stand_in)));
      EXPECT_EQ(::getppid(), -7);
      ASSERT_TRUE(object.redirect(slot, real));
      EXPECT_EQ(::getppid(), parent);
    });
  });
  EXPECT_EQ(slots, 1);
}

TEST(LoadedObject, ExtentHoldsTheCode) {
  const auto code = reinterpret_cast<std::uintptr_t>(stand_in);
  with_executable([&](const LoadedObject& object) {
    EXPECT_GE(code, object.base());
    EXPECT_LT(code, object.end());
  });
}

// This program refers to no synchronous send; the name of one that it does not
// call is in its data only.
TEST(Imports, NoSynchronousSendHere) {
  EXPECT_FALSE(program_imports_synchronous_sends());
}

// No Fortran library of MPI's is loaded: whoever calls is the program.
TEST(Fortran, CallsFromElsewhereAreTheProgramsOwn) {
  int here = 0;
  EXPECT_TRUE(callers::is_programs_call("MPI_Comm_size", reinterpret_cast<void*>(stand_in)));
  EXPECT_TRUE(callers::is_programs_call("MPI_Type_free", &here));
}

TEST(FortranRequests, InCTheVariableIsItself) {
  int requests[3] = {};
  EXPECT_EQ(fortran_requests.variable_of(&requests[2]), &requests[2]);
}

// The library converts three handles of 8 bytes each in an array of its own;
// Fortran's are 4 bytes: its third lies 8 bytes behind its first.
TEST(FortranRequests, StandsForTheProgramsVariable) {
  FortranRequests::set_handle_bytes(8);
  int program[3] = {};
  long long library[3] = {};
  {
    const FortranRequests::Call call(program);
    EXPECT_EQ(fortran_requests.variable_of(&library[0]), &program[0]);
    EXPECT_EQ(fortran_requests.variable_of(&library[2]), &program[2]);
    int other = 0;
    long long others = 0;
    {
      const FortranRequests::Call from_callback(&other);
      EXPECT_EQ(fortran_requests.variable_of(&others), &other);
    }
    EXPECT_EQ(fortran_requests.variable_of(&library[1]), &program[1]);
  }
  EXPECT_EQ(fortran_requests.variable_of(&library[1]), &library[1]);
  FortranRequests::set_handle_bytes(sizeof(int));
}

}  // namespace
}  // namespace foretrace::capture
