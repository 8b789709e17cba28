// The source that a template becomes.
#include "wrap/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "functions.hpp"

namespace foretrace::wrap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Source source_of(std::string_view text, bool fortran = false) {
  return generate(parse_template(text, "t.wrap"), "mpich", kFunctions, "out.c", fortran);
}

// Without the lines that tell the compiler where others come from.
std::string code_of(std::string_view text) {
  const std::string source = source_of(text).text;
  std::string out;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = source.find('\n', at) + 1;
    if (source.compare(at, 6, "#line ") != 0) out += source.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string generate_refusal(std::string_view text) {
  try {
    source_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(Generate, AWrapperAroundTheCall) {
  EXPECT_THAT(
      code_of("%wrap MPI_Barrier\nbefore(comm);\n%call\nafter(@result, \"@function\");\n%end\n"),
      HasSubstr("#undef MPI_Barrier\n"
                "WRAP_EXPORT int MPI_Barrier(MPI_Comm comm)\n"
                "{\n"
                "  if (wrap_depth > 0) return PMPI_Barrier(comm);\n"
                "  int wrap_result = 0;\n"
                "  __attribute__((cleanup(wrap_leave), unused)) int wrap_inside = "
                "++wrap_depth;\n"
                "  {\n"
                "before(comm);\n"
                "  wrap_result = PMPI_Barrier(comm);\n"
                "after(wrap_result, \"MPI_Barrier\");\n"
                "  }\n"
                "  return wrap_result;\n"
                "}\n"));
}

TEST(Generate, TheFirstWrapIsOutermost) {
  EXPECT_THAT(code_of("%wrap all\na\n%call\nd\n%end\n%wrap MPI_Barrier\nb\n%call\nc\n%end\n"),
              HasSubstr("  {\na\n  {\nb\n  wrap_result = PMPI_Barrier(comm);\nc\n  }\nd\n  }\n"));
}

TEST(Generate, WithoutCallTheFunctionIsReplaced) {
  const std::string code = code_of("%wrap MPI_Barrier\n@result = 7;\n%end\n");
  EXPECT_THAT(code, HasSubstr("  {\nwrap_result = 7;\n  }\n  return wrap_result;"));
}

TEST(Generate, BeginningAndEndAreWrappedInAnyCase) {
  const std::string code =
      code_of("%init\nbegin(@rank, @size, @now);\n%end\n%finalize\nend();\n%end\n");
  EXPECT_THAT(code, HasSubstr("begin(wrap_rank, wrap_size, wrap_now());\n}\n"));
  EXPECT_THAT(code, HasSubstr("static void wrap_end(void)\n{\nend();\n}\n"));
  EXPECT_THAT(code, HasSubstr("  wrap_result = PMPI_Init(argc, argv);\n"
                              "  if (wrap_result == MPI_SUCCESS) wrap_begin();\n"));
  EXPECT_THAT(code, HasSubstr("  wrap_end();\n  wrap_result = PMPI_Finalize();\n"));
  EXPECT_THAT(code, Not(HasSubstr("MPI_Barrier(")));
  EXPECT_EQ(source_of("").functions, 0);
}

TEST(Generate, LoopsAndConditions) {
  EXPECT_THAT(
      code_of("%for f in collectives + sends\n%if has @peer\np @f\n%elif in nonblocking\nn @f\n"
              "%else\no @f\n%end\n%end\n"),
      HasSubstr("o MPI_Allreduce\no MPI_Barrier\nn MPI_Ibarrier\np MPI_Send\np MPI_Send_c\n"));
  EXPECT_THAT(code_of("%for f in all\n%if returns double and not has comm\n@f\n%end\n%end\n"),
              HasSubstr("\nMPI_Wtime\n"));
  EXPECT_THAT(code_of("%if mpi openmpi\nopen\n%else\n@mpi\n%end\n"), HasSubstr("\nmpich\n"));
}

TEST(Generate, IndexCountsWhatIsWrapped) {
  const std::string code = code_of(
      "n = @functions;\n%for f in wrapped\n[@index] = \"@f\"\n%end\n"
      "%wrap sends + MPI_Barrier\nx[@index]\n%call\n%end\n");
  EXPECT_THAT(code, HasSubstr("n = 3;\n[0] = \"MPI_Barrier\"\n[1] = \"MPI_Send\"\n[2] = "
                              "\"MPI_Send_c\"\n"));
  EXPECT_THAT(code, HasSubstr("x[1]\n  wrap_result = PMPI_Send("));
  EXPECT_EQ(source_of("%wrap sends\n%call\n%end\n").functions, 2);
}

TEST(Generate, Roles) {
  EXPECT_THAT(
      code_of("%wrap MPI_Recv\n@peer @tag @comm @count @datatype @bytes a@@b @ c\n%call\n%end\n"),
      HasSubstr("source tag comm count datatype wrap_bytes((long long)(count), datatype) "
                "a@b @ c\n"));
}

TEST(Generate, LinesKeepTheirPlace) {
  const std::string text = source_of("a\nb\n%% x\nc\n%wrap MPI_Barrier\nd\n%call\ne\n%end\n").text;
  EXPECT_THAT(text, HasSubstr("#line 1 \"t.wrap\"\na\nb\n#line 4 \"t.wrap\"\nc\n"));
  EXPECT_THAT(text, HasSubstr("#line 6 \"t.wrap\"\nd\n"));
  EXPECT_THAT(text, HasSubstr("#line 8 \"t.wrap\"\ne\n"));
  // Our own lines count on from the top of the source.
  int line = 0;
  bool seen = false;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    ++line;
    if (text.compare(at, 6, "#line ") != 0 || text.find("out.c", at) > text.find('\n', at))
      continue;
    EXPECT_EQ(std::stoi(text.substr(at + 6)), line + 1);
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(Generate, VariableArgumentsStayBehind) {
  EXPECT_THAT(code_of("%wrap MPI_Pcontrol\n%call\n%end\n"),
              HasSubstr("int MPI_Pcontrol(const int level, ...)\n{\n"
                        "  if (wrap_depth > 0) return PMPI_Pcontrol(level);\n"));
}

TEST(Generate, ForFortranATableOfStandIns) {
  EXPECT_THAT(source_of("%wrap MPI_Barrier\n%call\n%end\n", true).text,
              HasSubstr("static int wrap_fortran_MPI_Barrier(MPI_Comm comm)\n{\n"
                        "  if (foretrace_wrap_is_programs_call(\"MPI_Barrier\", "
                        "__builtin_return_address(0)))\n    return MPI_Barrier(comm);\n"
                        "  return PMPI_Barrier(comm);\n}\n"));
  EXPECT_THAT(source_of("%wrap MPI_Barrier\n%call\n%end\n").text, Not(HasSubstr("fortran")));
}

TEST(GenerateError, SaysWhereAndWhat) {
  EXPECT_EQ(generate_refusal("%wrap MPI_Barrier\n%call\n%call\n%end\n"),
            "t.wrap:3: a second %call for MPI_Barrier");
  EXPECT_EQ(generate_refusal("\n%wrap MPI_Nothing*\n%call\n%end\n"),
            "t.wrap:2: no function of mpich is in this set");
  EXPECT_EQ(generate_refusal("%wrap MPI_Barrier\n@nothing\n%end\n"),
            "t.wrap:2: nothing is called @nothing here; @@ stands for @ itself");
  EXPECT_EQ(generate_refusal("@function\n"),
            "t.wrap:1: @function outside of %wrap and %for: of which function?");
  EXPECT_EQ(generate_refusal("@result\n"), "t.wrap:1: @result outside of %wrap");
  EXPECT_EQ(generate_refusal("%wrap all\n%call\n@peer\n%end\n"),
            "t.wrap:3: MPI_Allreduce has nothing for @peer; ask with %if has @peer");
  EXPECT_EQ(generate_refusal("%for f in all\n@index\n%end\n%wrap MPI_Barrier\n%end\n"),
            "t.wrap:2: @index counts the functions that are wrapped; MPI_Allreduce is not");
  EXPECT_EQ(generate_refusal("%if has comm\n%end\n"),
            "t.wrap:1: the condition asks for a function, but stands in no %wrap and no %for");
  EXPECT_THAT(generate_refusal("%for f in MPI_Sned\n%end\n"),
              HasSubstr("t.wrap:1: this MPI has no function MPI_Sned"));
}

TEST(GenerateError, ASourceThatGrowsBeyondAllBounds) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "%for f" + std::to_string(i) + " in all\n";
  text += "some text\n";
  for (int i = 0; i < 12; ++i) text += "%end\n";
  EXPECT_THAT(generate_refusal(text), HasSubstr("t.wrap: the source would be larger than 32 MiB"));
}

}  // namespace
}  // namespace foretrace::wrap
