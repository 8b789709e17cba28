// docs/model-programs.md shows programs/models/model_ring.cpp as it is.
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/whole_file.hpp"

namespace {

std::string text_of(const std::string& path) {
  return foretrace::read_if_possible(std::string(FORETRACE_SOURCE_DIR) + "/" + path);
}

TEST(Tutorial, ShowsTheProgramAsItIs) {
  const std::string program = text_of("programs/models/model_ring.cpp");
  const std::string code = program.substr(program.find("#include"));
  EXPECT_GT(code.size(), 500u);
  EXPECT_NE(text_of("docs/model-programs.md").find("```cpp\n" + code + "```"), std::string::npos);
}

}  // namespace
