// SPDX-License-Identifier: Apache-2.0
// The command line: which commands and flags there are (one table each in cli_tables.cc), parsed by CLI11 (cli.cc only)
// into plain Options. Help and shell completion are printed from CommandSpec, which is read back from the parser, so
// that they cannot say what it does not accept.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "base/messages.h"

namespace sawbill::app {

struct FlagSpec {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // "FILE", "en|zh", ...; "" = a switch
  std::string help;
  std::string group;
};

struct PositionalSpec {
  std::string name;  // "FILE", "bash|zsh|fish"
  std::string help;
  bool required = false, many = false;
};

struct CommandSpec {
  std::string path;  // "" for the program itself, "report", "rules explain"
  std::string summary;
  std::vector<FlagSpec> flags;
  std::vector<PositionalSpec> positionals;
  std::vector<CommandSpec> subcommands;
};

struct ParseOutcome {
  enum class Kind { kRun, kHelp, kError };
  Kind kind = Kind::kRun;
  Options options;
  std::string command;  // whose help is asked for, or where the error is
  std::string error;
};

ParseOutcome ParseCommandLine(const std::vector<std::string>& args, Lang lang);
CommandSpec DescribeCommands(Lang lang);
/// The command of that path within `root`, or null.
const CommandSpec* FindCommand(const CommandSpec& root, const std::string& path);

/// `sawbill --help`, `sawbill report --help`, at most `columns` wide.
std::string RenderHelp(const CommandSpec& root, const std::string& path, Lang lang, int columns);
/// The completion script; "" for a shell that is not known.
std::string RenderCompletion(const CommandSpec& root, const std::string& shell);

// The tables (cli_tables.cc).

/// Bits of the commands that take a flag.
enum CommandBit : unsigned {
  kReport = 1,
  kDiagnose = 2,
  kDemo = 4,
  kRulesList = 8,
  kRulesExplain = 16,
  kRulesCheck = 32,
  kPrices = 64,
  kDoctor = 128,
  kCompletion = 256,
  kVersion = 512,
  kRoot = 1024,
  kRules = 2048,
  kRecord = 4096,
  kRun = 8192,
  kPause = 16384,
  kReplay = 32768,
  kConvert = 65536,
};
struct FlagRow {
  const char* names;  // "-o,--output"
  const char* value;
  Msg help, group;
  unsigned commands;
  std::optional<std::string> Options::* text = nullptr;  // exactly one of these three
  std::vector<std::string> Options::* list = nullptr;
  bool Options::* on = nullptr;
};
struct CommandRow {
  const char* path;
  CommandBit bit;
  Msg summary;
  const char* positional;  // "" = none
  bool positional_required;
  const char* more;  // a second positional that takes many, "" = none
};
const std::vector<FlagRow>& FlagRows();
const std::vector<CommandRow>& CommandRows();

/// A command that contracts.md names and this version does not have.
struct PlannedCommand {
  const char* name;
  Msg instead;
};
const std::vector<PlannedCommand>& PlannedCommands();

}  // namespace sawbill::app
