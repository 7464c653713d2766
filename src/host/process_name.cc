// SPDX-License-Identifier: Apache-2.0
// How the loaders of the day look from outside:
//   PyTorch  DataLoader(num_workers=n): n forks with the trainer's command line; each calls itself pt_data_worker
//            (since 2.1) when the name could be set. With multiprocessing_context="spawn": "python -c from
//            multiprocessing.spawn import spawn_main; ...", with "forkserver" children of such a server.
//   DALI, TensorFlow's tf.data: threads of the process itself, or multiprocessing's children as above.
//   Ray Data, setproctitle: the title replaces the first argument ("ray::MapWorker").
// And what looks alike but prepares no data: multiprocessing's resource tracker, and TorchInductor's compile workers:
// dozens of forks of a helper "compile_worker", or of the trainer itself with the name pt_compile_... .
#include "host/process_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sawbill::host {
namespace {

constexpr size_t kMostNameBytes = 96;

bool Contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string_view> Arguments(std::string_view cmdline) {
  while (!cmdline.empty() && cmdline.back() == '\0') cmdline.remove_suffix(1);
  return cmdline.empty() ? std::vector<std::string_view>() : Split(cmdline, '\0');
}

/// python, python3, python3.11, python3.13t, pypy3: nothing but a version behind the name.
bool IsPython(std::string_view program) {
  for (const std::string_view name : {"python", "pypy"}) {
    if (!StartsWith(program, name)) continue;
    return program.find_first_not_of("0123456789.tdmw-", name.size()) == std::string_view::npos;
  }
  return false;
}

bool IsShell(std::string_view program) {
  static constexpr std::array<std::string_view, 8> kShells = {"sh",  "bash", "dash", "zsh",
                                                              "ksh", "fish", "tcsh", "ash"};
  return std::find(kShells.begin(), kShells.end(), program) != kShells.end();
}

bool TakesScript(std::string_view program) {
  static constexpr std::array<std::string_view, 7> kOthers = {"perl", "ruby", "node", "julia", "Rscript", "lua", "php"};
  return IsShell(program) || std::find(kOthers.begin(), kOthers.end(), program) != kOthers.end();
}

/// A folder is run by the __main__.py in it.
std::string_view ScriptName(std::string_view path) {
  const std::string_view base = BaseName(path);
  if (base != "__main__.py") return base;
  const std::string_view folder =
      path.size() > base.size() ? BaseName(path.substr(0, path.size() - base.size() - 1)) : "";
  return folder.empty() ? base : folder;
}

/// "" = no script: a prompt, -c, or text from a pipe.
std::string_view PythonScript(const std::vector<std::string_view>& args) {
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg.empty() || arg == "-") return "";
    if (arg[0] != '-') return ScriptName(arg);
    if (StartsWith(arg, "--")) {
      if (arg == "--check-hash-based-pycs") ++i;
      continue;
    }
    for (size_t at = 1; at < arg.size(); ++at) {  // flags may stand together: -um
      const bool last = at + 1 == arg.size();
      if (arg[at] == 'c') return "";
      if (arg[at] == 'm') return last ? (i + 1 < args.size() ? args[i + 1] : "") : arg.substr(at + 1);
      if (arg[at] == 'X' || arg[at] == 'W') {
        if (last) ++i;
        break;
      }
    }
  }
  return "";
}

/// Only an argument that is surely the script: the first, or behind a shell's flags that take nothing.
std::string_view OtherScript(const std::vector<std::string_view>& args, bool shell) {
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].empty()) return "";
    if (args[i][0] != '-') return ScriptName(args[i]);
    if (!shell || args[i].find_first_not_of("elux", 1) != std::string_view::npos) return "";
  }
  return "";
}

}  // namespace

std::string NameOf(std::string_view cmdline, std::string_view comm) {
  const std::vector<std::string_view> args = Arguments(cmdline);
  std::string_view name = comm;
  if (!args.empty() && !args[0].empty()) {
    // A title set by the process itself may hold its whole command line in the first argument.
    std::string_view program = args[0].substr(0, args[0].find(' '));
    program = StartsWith(program, "ray::") ? program : BaseName(program);
    if (StartsWith(program, "-")) program.remove_prefix(1);   // a login shell
    while (EndsWith(program, ":")) program.remove_suffix(1);  // "nginx: worker process"
    if (!program.empty()) name = program;
    std::string_view script;
    if (IsPython(program)) script = PythonScript(args);
    if (TakesScript(program)) script = OtherScript(args, IsShell(program));
    if (!script.empty()) name = script;
  }
  return Sanitize(name.substr(0, kMostNameBytes));
}

Role RoleOf(std::string_view cmdline, std::string_view comm) {
  const std::string_view title = cmdline.substr(0, cmdline.find('\0'));
  for (const std::string_view text : {comm, title.substr(0, title.find(' '))}) {
    const std::string lower = ToLower(BaseName(text));
    for (const char* word :
         {"pt_data_worker", "dataloader", "data_worker", "dataworker", "loader_worker", "dali_worker"}) {
      if (Contains(lower, word)) return Role::kNamedWorker;
    }
  }
  if (StartsWith(title, "ray::")) return Role::kNamedWorker;
  if (Contains(cmdline, "resource_tracker") || Contains(cmdline, "semaphore_tracker")) return Role::kHelper;
  if (Contains(cmdline, "compile_worker") || StartsWith(comm, "pt_compile")) return Role::kHelper;
  if (Contains(cmdline, "multiprocessing.forkserver")) return Role::kForkServer;
  if (Contains(cmdline, "multiprocessing.spawn") || Contains(cmdline, "popen_loky")) return Role::kSpawned;
  return IsShell(BaseName(title)) ? Role::kHelper : Role::kPlain;
}

bool LooksLikeWorker(Role role, std::string_view cmdline, Role parent_role, std::string_view parent_cmdline) {
  switch (role) {
    case Role::kNamedWorker:
    case Role::kSpawned:
      return true;
    case Role::kForkServer:
      return parent_role == Role::kForkServer;
    case Role::kHelper:
      return false;
    case Role::kPlain:
      return !cmdline.empty() && cmdline == parent_cmdline;
  }
  return false;
}

}  // namespace sawbill::host
