# cmake -DINPUT=page.html -DNAME=timeline_page -DHEADER=views/timeline/page.hpp -DOUTPUT=source.cpp -P embed.cmake
# Writes the file as a C++ array, which NAME() of HEADER returns; an empty INPUT
# gives an empty page.
set(bytes "")
if(INPUT)
  file(READ ${INPUT} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
endif()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace foretrace::views {
namespace {

constexpr unsigned char kPage[] = {${bytes}0};

}  // namespace

std::string_view ${NAME}() {
  return {reinterpret_cast<const char*>(kPage), sizeof kPage - 1};
}

}  // namespace foretrace::views
")
