// docs/model-programs.md shows programs/models/model_ring.cpp as it is.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(FORETRACE_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Tutorial, ShowsTheProgramAsItIs) {
  const std::string program = text_of("programs/models/model_ring.cpp");
  const std::string code = program.substr(program.find("#include"));
  EXPECT_GT(code.size(), 500u);
  EXPECT_NE(text_of("docs/model-programs.md").find("```cpp\n" + code + "```"), std::string::npos);
}

}  // namespace
