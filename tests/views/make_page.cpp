// make_page mandel|halo RANKS EVENTS OUT.html: writes the time line page of an
// example trace. The tests in a browser start from such pages.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "base/error.hpp"
#include "example_traces.hpp"
#include "views/timeline.hpp"

int main(int argc, char** argv) {
  using namespace foretrace;
  if (argc != 5) {
    std::cerr << "usage: make_page mandel|halo RANKS EVENTS OUT.html\n";
    return 2;
  }
  const bool mandel = std::string(argv[1]) == "mandel";
  const trace::Trace trace =
      mandel ? test::mandel_trace() : test::halo_trace(std::atoi(argv[2]), std::atoi(argv[3]));
  try {
    const std::string page = views::render_html_timeline(trace);
    std::ofstream out(argv[4], std::ios::binary);
    out << page;
    return out.flush() ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
