// SPDX-License-Identifier: Apache-2.0
// Everything that the program takes from outside: arguments apart, it has no other door. Tests hand in one of their
// own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "gpu/source.h"
#include "sys/file.h"
#include "sys/proc_files.h"

namespace sawbill::app {

/// Where text goes. A reader that went away (`sawbill report | head`) is no error: the rest is dropped.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void Write(std::string_view text) = 0;
  /// What went wrong when writing, except that the reader went away.
  virtual Status status() const { return Status::Ok(); }
};

class MemStream : public Stream {
 public:
  void Write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }
  void Clear() { text_.clear(); }

 private:
  std::string text_;
};

struct Environment {
  sys::FileSystem* fs = nullptr;
  std::map<std::string, std::string> vars;
  Stream* out = nullptr;
  Stream* err = nullptr;
  bool out_is_terminal = false, err_is_terminal = false;
  int columns = 80;
  TimeMs now = 0;
  std::string exe_path;  // of this program, "" = unknown
  int64_t pid = 0, parent_pid = 0;
  int threads = 1;
  /// Tries to load a shared library: nothing when it loads, else why not.
  std::function<std::optional<std::string>(const std::string&)> load_library;
  /// What recording needs beyond files; empty in tests that do not record. `nvml`: library, `dcgm`: URL, "" = the
  /// usual.
  std::function<std::shared_ptr<gpu::Source>(const std::string& nvml, const std::string& dcgm)> make_source;
  std::function<std::shared_ptr<sys::ProcFiles>()> make_proc_files;
  /// All of stdin; empty where there is nothing to read from (a terminal).
  std::function<Result<std::string>()> read_stdin;

  /// The variable's value; an empty one counts as not set.
  std::optional<std::string> Var(const std::string& name) const {
    const auto it = vars.find(name);
    return it == vars.end() || it->second.empty() ? std::nullopt : std::optional(it->second);
  }
};

/// The machine that this process runs on. Lives as long as the program.
struct RealEnvironment {
  RealEnvironment();
  std::unique_ptr<sys::FileSystem> fs;
  std::unique_ptr<Stream> out, err;
  Environment env;
};

/// The whole program: `args` without the program's name. Returns the exit status (contracts.md: 0, 1, 2, 3).
int RunMain(const std::vector<std::string>& args, Environment* env);

}  // namespace sawbill::app
