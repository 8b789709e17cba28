#include "cli/words/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace foretrace::cli {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Letters to change, add, drop or swap with their neighbour (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + static_cast<std::size_t>(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kLeastStart = 3;
  if (word.empty() || word.size() > kLongest) return "";
  const std::string wanted = lower(word);
  std::string best;
  std::size_t least = SIZE_MAX;
  for (const std::string& each : known) {
    const std::string candidate = lower(each);
    const std::size_t faults = wanted.size() >= kLeastStart && candidate.starts_with(wanted)
                                   ? 1
                                   : distance(wanted, candidate);
    if (faults >= least || 3 * faults > std::max(wanted.size(), candidate.size())) continue;
    least = faults;
    best = each;
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string found = nearest(word, known);
  return found.empty() ? "" : "; did you mean '" + found + "'?";
}

}  // namespace foretrace::cli
