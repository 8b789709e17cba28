// Progress: how far a measurement is and how long it still takes, as a bar on a
// terminal or as a line for each launch.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <thread>

namespace foretrace::measure {

// "0:07", "2:15", "1:05:00".
std::string clock_text(double seconds);

// "launch 2 of 5 [######..............] 31 %, about 1:10 left"; `share` of all.
std::string bar_text(int launch, int launches, double share, double seconds_left);

class Progress {
 public:
  // `bar`: draw while a launch runs; else say a line when it begins.
  Progress(std::ostream* out, bool bar) : out_(out), bar_(bar) {}

  // A launch begins: the `launch`th of `launches`, which takes about so many
  // seconds; those after it take as long. `share_file`: what the program tells
  // of itself.
  void begin(int launch, int launches, double seconds, const std::string& share_file);
  // It has ended.
  void end();

 private:
  void draw(std::stop_token stop) const;

  std::ostream* out_;
  bool bar_;
  int launch_ = 0;
  int launches_ = 0;
  double seconds_ = 0;
  std::string share_file_;
  std::jthread thread_;
};

}  // namespace foretrace::measure
