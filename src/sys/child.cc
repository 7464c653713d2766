// SPDX-License-Identifier: Apache-2.0
#include "sys/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

extern char** environ;

namespace sawbill::sys {
namespace {

/// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void Become(char* const* argv, const SpawnOptions& o, int report_fd) {
  if (o.own_group) ::setpgid(0, 0);
  if (o.sigpipe_default) ::signal(SIGPIPE, SIG_DFL);
  if (o.mask != nullptr) ::sigprocmask(SIG_SETMASK, o.mask, nullptr);
  if (o.output_path) {
    const int null = ::open("/dev/null", O_RDONLY);
    const int out = ::open(o.output_path->c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    if (out >= 0) {
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      if (out > 2) ::close(out);
    }
    if (null > 2) ::close(null);
  }
  for (const int fd : o.keep_fds) ::fcntl(fd, F_SETFD, 0);
  ::execvp(argv[0], argv);
  const int why = errno;
  if (::write(report_fd, &why, sizeof(why)) != static_cast<ssize_t>(sizeof(why))) ::_exit(126);
  ::_exit(127);
}

ChildState Translate(int status) {
  if (WIFSTOPPED(status)) return {ChildState::Kind::kStopped, WSTOPSIG(status)};
  if (WIFCONTINUED(status)) return {ChildState::Kind::kContinued, 0};
  if (WIFSIGNALED(status)) return {ChildState::Kind::kSignaled, WTERMSIG(status)};
  return {ChildState::Kind::kExited, WEXITSTATUS(status)};
}

}  // namespace

Result<int64_t> Spawn(const std::vector<std::string>& argv, const SpawnOptions& options) {
  SAWBILL_CHECK(!argv.empty());
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  // The environment is made here: setenv in the child could need a lock that another thread held at the fork.
  std::vector<std::string> vars;
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string name = std::string(*v).substr(0, std::string(*v).find('='));
    if (!options.set_vars.contains(name)) vars.emplace_back(*v);
  }
  for (const auto& [name, value] : options.set_vars) vars.push_back(name + "=" + value);
  std::vector<char*> env;
  for (std::string& v : vars) env.push_back(v.data());
  env.push_back(nullptr);

  int report[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC) != 0) return Status::Unavailable(std::string("no pipe: ") + std::strerror(errno));
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int why = errno;
    ::close(report[0]);
    ::close(report[1]);
    return Status::Unavailable(std::string("no new process: ") + std::strerror(why));
  }
  if (pid == 0) {
    environ = env.data();
    Become(args.data(), options, report[1]);
  }
  ::close(report[1]);
  int why = 0;
  ssize_t n = 0;
  do {
    n = ::read(report[0], &why, sizeof(why));  // closed by a successful exec
  } while (n < 0 && errno == EINTR);
  ::close(report[0]);
  if (n == static_cast<ssize_t>(sizeof(why))) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
    const std::string message = argv[0] + ": " + std::strerror(why);
    return why == ENOENT || why == ENOTDIR ? Status::NotFound(message) : Status::Unavailable(message);
  }
  return static_cast<int64_t>(pid);
}

std::optional<ChildState> PollChild(int64_t pid) {
  int status = 0;
  const pid_t got = ::waitpid(static_cast<pid_t>(pid), &status, WNOHANG | WUNTRACED | WCONTINUED);
  if (got != static_cast<pid_t>(pid)) return std::nullopt;
  return Translate(status);
}

std::optional<ChildState> WaitChild(int64_t pid) {
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(static_cast<pid_t>(pid), &status, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<pid_t>(pid)) return std::nullopt;
  return Translate(status);
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace sawbill::sys
