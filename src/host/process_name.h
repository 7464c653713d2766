// SPDX-License-Identifier: Apache-2.0
// What a process is called and what part it plays, by its command line and its own name. Never an argument: those hold
// tokens and paths of data that belong into no record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawbill::host {

/// The script for an interpreter (python train.py -> "train.py", python -m pkg.mod -> "pkg.mod"), else the program's
/// base name; `comm` where there is no command line. `cmdline` as /proc gives it, parted by NUL.
std::string NameOf(std::string_view cmdline, std::string_view comm);

enum class Role {
  kPlain,
  kNamedWorker,  // calls itself a data loader's worker
  kSpawned,      // multiprocessing's child, started afresh
  kForkServer,   // multiprocessing's fork server, and its children: they have the same command line
  kHelper,       // resource tracker, compiler pool, shell
};
Role RoleOf(std::string_view cmdline, std::string_view comm);

/// A worker by role, or by behaviour: forked, not started (the same command line as its parent).
bool LooksLikeWorker(Role role, std::string_view cmdline, Role parent_role, std::string_view parent_cmdline);

}  // namespace sawbill::host
