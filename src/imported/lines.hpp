// The lines of a text file, one after the other, and the numbers in them, for the
// readers of this part. Whatever is wrong becomes an Error with file and line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::imported {

inline constexpr double kMicrosecond = 1e-6;  // the unit of most benchmarks

class Lines {
 public:
  // `name` stands for the file in messages; `text` must outlive this.
  Lines(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  // The next line without its end; nothing after the last. A last line that has no end was cut
  // off: half a number is a number as well.
  std::optional<std::string_view> next();
  int number() const { return number_; }  // of the line that next() gave, from 1
  const std::string& name() const { return name_; }

  // Throws Error "NAME:LINE: message".
  [[noreturn]] void fail(const std::string& message) const;

  // The word as a number, 0 or more and finite; as a whole one. `what` names it in the message.
  double amount(std::string_view word, const char* what) const;
  std::uint64_t whole(std::string_view word, const char* what) const;

 private:
  std::string_view rest_;
  std::string name_;
  int number_ = 0;
};

std::string_view trimmed(std::string_view text);
// Between blanks.
std::vector<std::string_view> words_of(std::string_view text);
// Between the separators, an empty one too.
std::vector<std::string_view> fields_of(std::string_view text, char separator);
// A word as a message shows it: printable and not endless.
std::string shown(std::string_view word);

}  // namespace foretrace::imported
