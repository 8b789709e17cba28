#include "live/processes.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "shared/seed.hpp"
#include "shared/shared_memory.hpp"

extern char** environ;

namespace foretrace::live {

std::uint64_t cpu_ticks(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name in parentheses, which may hold anything;
  // user and system time are the fields 14 and 15.
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  std::uint64_t user = 0, system = 0;
  rest >> user >> system;
  return user + system;
}

namespace {

// Whether the process has the memory that the ranks share: what had its number before may be no
// more.
bool is_of_this_run(pid_t process) {
  struct stat memory {};
  if (::fstat(SharedMemory::descriptor(), &memory) != 0) return false;
  const std::string inode = " " + std::to_string(memory.st_ino) + " ";
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:foretrace") != std::string::npos && line.find(inode) != std::string::npos)
      return true;
  return false;
}

// A rank that wakes another goes to sleep itself: it would have to be put back on its core
// for that, if the other took it at once.
void let_wakers_go_on() {
  const sched_param none{};
  if (::sched_getscheduler(0) == SCHED_OTHER) ::sched_setscheduler(0, SCHED_BATCH, &none);
}

}  // namespace

// A thread waits for processes to end; it alone reaps them.
struct Processes::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<pid_t, int> living;  // process to rank
  std::vector<Ended> ended;
  int gone = 0;
  bool stop = false;
  std::thread thread;

  void run() {
    for (;;) {
      siginfo_t info{};
      // The process stays a zombie, with its number its own, until it is known.
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
        // None yet, or none any more.
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stop || !living.empty(); });
        if (stop && living.empty()) return;
        continue;
      }
      {
        const std::lock_guard lock(mutex);
        ::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED);
        const auto found = living.find(info.si_pid);
        if (found == living.end()) continue;
        const bool exited = info.si_code == CLD_EXITED;
        ended.push_back({found->second, exited ? 0 : info.si_status, exited ? info.si_status : 0});
        living.erase(found);
        ++gone;
      }
      ring_bell();
    }
  }
};

Processes::Processes(const Command& command, int ranks)
    : command_(command),
      programs_{{ranks, command.path, command.words, {}}},
      ranks_(ranks),
      watch_(std::make_unique<Watch>()) {
  watch_->thread = std::thread([watch = watch_.get()] { watch->run(); });
}

Processes::~Processes() {
  dismiss_seed();
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->stop = true;
    for (const auto& [process, rank] : watch_->living) ::kill(process, SIGKILL);
  }
  // After the scripts, whose shells would report it.
  end_programs_of_scripts();
  watch_->changed.notify_one();
  watch_->thread.join();
}

// They wait for the simulator, and would for ever.
void Processes::end_programs_of_scripts() const {
  SharedMemory::header().over.store(true);
  for (int rank = 0; rank < started_; ++rank) {
    const Slot& slot = SharedMemory::slot(rank);
    const pid_t program = slot.program.load();
    if (program > 0 && program != slot.process && is_of_this_run(program)) ::kill(program, SIGKILL);
  }
}

void Processes::add(std::vector<std::string> words, std::string directory, int count) {
  ranks_ += count;
  programs_.push_back({ranks_, words.front(), std::move(words), std::move(directory)});
}

Processes::Program& Processes::program_of(int rank) {
  return *std::ranges::find_if(programs_, [rank](const Program& one) { return rank < one.end; });
}

void Processes::start_more() {
  while (started_ < ranks_ && core_is_free()) start(started_++);
  if (started_ == ranks_) all_are_started();
}

void Processes::start(int rank) {
  Slot& slot = SharedMemory::slot(rank);
  slot.cores.store(1);
  slot.go.store(1);
  count_running(+1);
  const std::lock_guard lock(watch_->mutex);
  pid_t process = -1;
  if (rank < programs_.front().end && has_seed()) process = grow(rank);
  if (process < 0) process = execute(rank);
  slot.process = process;
  watch_->living.emplace(process, rank);
  watch_->changed.notify_one();
}

// Of the program: the command's, what a launcher sets, and what of our own is not among them.
std::vector<std::string> Processes::environment(int rank) const {
  std::vector<std::string> all = command_.environment;
  const auto set = [&all](std::string name, const std::string& value) {
    all.push_back(std::move(name += "=") += value);
  };
  set(kVariable, std::to_string(SharedMemory::descriptor()) + ":" + std::to_string(rank));
  if (rank == 0) set(kSeedVariable, "1");
  for (const auto& [name, value] :
       launcher_variables(command_.launcher, SharedMemory::slot(rank).world))
    set(name, value);
  // What stands before MPI stands before ours.
  const char* const others = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD", (others ? std::string(others) + ":" : "") + command_.library);
  const std::size_t ours = all.size();
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    const auto is_set = [name](const std::string& one) {
      return one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=';
    };
    if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(ours), is_set))
      all.emplace_back(*entry);
  }
  return all;
}

// Starts the program.
pid_t Processes::execute(int rank) {
  const int descriptor = SharedMemory::descriptor();
  std::vector<std::string> environment = this->environment(rank);
  std::vector<char*> variables;
  for (std::string& text : environment) variables.push_back(text.data());
  variables.push_back(nullptr);
  Program& program = program_of(rank);
  std::vector<char*> words;
  for (std::string& text : program.words) words.push_back(text.data());
  words.push_back(nullptr);

  const pid_t parent = ::getpid();
  volatile int error = 0;
  const pid_t process = ::vfork();
  if (process == 0) {
    // Shares our memory until it becomes the program: system calls only.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // We may be on the core that ranks share.
    if (knows_cores_) ::sched_setaffinity(0, sizeof cores_, &cores_);
    let_wakers_go_on();
    if (::getppid() != parent) ::_exit(127);
    ::fcntl(descriptor, F_SETFD, 0);
    if (rank > 0) {
      const int null = ::open("/dev/null", O_RDONLY);
      if (null >= 0) ::dup2(null, 0);
    }
    if (command_.output_to_stderr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    if (program.directory.empty() || ::chdir(program.directory.c_str()) == 0)
      ::execve(program.path.c_str(), words.data(), variables.data());
    error = errno;
    ::_exit(127);
  }
  if (process < 0 || error != 0) {
    const std::string reason = std::strerror(process < 0 ? errno : error);
    if (process > 0) watch_->living.emplace(process, rank);
    throw Error("cannot start rank " + std::to_string(rank) + " (" + program.path + "): " + reason);
  }
  return process;
}

std::vector<Ended> Processes::ended() {
  std::vector<Ended> result;
  const std::lock_guard lock(watch_->mutex);
  result.swap(watch_->ended);
  return result;
}

bool Processes::all_ended() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->gone == started_;
}

std::map<int, int> Processes::living() const {
  const std::lock_guard lock(watch_->mutex);
  std::map<int, int> ranks;
  for (const auto& [process, rank] : watch_->living) ranks.emplace(rank, process);
  return ranks;
}

void Processes::signal(int signal) const {
  for (const auto& [rank, process] : living()) {
    const pid_t program = SharedMemory::slot(rank).program.load();
    ::kill(program > 0 && is_of_this_run(program) ? program : process, signal);
  }
}

}  // namespace foretrace::live
