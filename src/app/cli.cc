// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11 (it costs seconds to compile). Values stay text here: what they mean, and what is
// wrong with them, is said by settings.cc in the user's language.
#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr const char* kHelpFlag = "--help";

void AddFlag(CLI::App* to, const FlagRow& row, Options* options, Lang lang) {
  const std::string help(Text(lang, row.help));
  CLI::Option* option = nullptr;
  if (row.on != nullptr) {
    option = to->add_flag_callback(row.names, [options, row] { options->*row.on = true; }, help);
  } else if (row.list != nullptr) {
    // One value a flag: otherwise `--price 10 log.csv` would take the file for a second price.
    option = to->add_option(row.names, options->*row.list, help)->allow_extra_args(false);
  } else {
    option = to->add_option_function<std::string>(
                   row.names, [options, row](const std::string& v) { options->*row.text = v; }, help)
                 ->take_last();
  }
  option->group(std::string(Text(lang, row.group)));
  if (row.on == nullptr) option->type_name(row.value);
}

/// The parser, with all commands.
struct Parser {
  Options options;
  CLI::App root;
  std::map<std::string, CLI::App*> by_path;

  explicit Parser(Lang lang) : root(std::string(Text(lang, Msg::kAppSentence)), "sawbill") {
    Prepare(&root, "", kRoot, lang);
    for (const CommandRow& row : CommandRows()) {
      const std::string path = row.path;
      const size_t blank = path.rfind(' ');
      CLI::App* parent = blank == std::string::npos ? &root : by_path.at(path.substr(0, blank));
      CLI::App* command = parent->add_subcommand(path.substr(blank == std::string::npos ? 0 : blank + 1),
                                                 std::string(Text(lang, row.summary)));
      Prepare(command, path, row.bit, lang);
      if (*row.positional != '\0') {
        command->add_option("subject", options.subject)->type_name(row.positional)->required(row.positional_required);
      }
      if (*row.more != '\0') command->add_option("files", options.files)->type_name(row.more);
    }
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

 private:
  void Prepare(CLI::App* app, const std::string& path, CommandBit bit, Lang lang) {
    by_path[path] = app;
    app->set_help_flag("-h,--help", std::string(Text(lang, Msg::kAppFlagHelp)));
    app->get_option(kHelpFlag)->group(std::string(Text(lang, Msg::kAppGroupGeneral)));
    app->require_subcommand(0, 1);
    for (const FlagRow& row : FlagRows()) {
      if ((row.commands & bit) != 0) AddFlag(app, row, &options, lang);
    }
  }
};

std::string PathOf(const CLI::App& root) {
  std::string path;
  const CLI::App* at = &root;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += (path.empty() ? "" : " ") + at->get_name();
  }
  return path;
}

CommandSpec Describe(const CLI::App& app, const std::string& path) {
  CommandSpec spec;
  spec.path = path;
  spec.summary = app.get_description();
  for (const CLI::Option* o : app.get_options()) {
    const bool many = o->get_items_expected_max() > 1;
    if (o->get_positional()) {
      spec.positionals.push_back({o->get_type_name(), o->get_description(), o->get_required(), many});
      continue;
    }
    FlagSpec flag;
    for (const std::string& s : o->get_snames()) flag.names.push_back("-" + s);
    for (const std::string& l : o->get_lnames()) flag.names.push_back("--" + l);
    if (o->get_items_expected_max() > 0) flag.value = o->get_type_name();
    flag.help = o->get_description();
    flag.group = o->get_group();
    spec.flags.push_back(std::move(flag));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    spec.subcommands.push_back(Describe(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name()));
  }
  return spec;
}

std::vector<std::string> FlagNames(const CommandSpec& command) {
  std::vector<std::string> names;
  for (const FlagSpec& f : command.flags) names.insert(names.end(), f.names.begin(), f.names.end());
  return names;
}

/// The first command that has the flag, or "".
std::string CommandWithFlag(const CommandSpec& command, const std::string& name) {
  for (const FlagSpec& f : command.flags) {
    for (const std::string& n : f.names) {
      if (n == name) return command.path;
    }
  }
  for (const CommandSpec& sub : command.subcommands) {
    const std::string found = CommandWithFlag(sub, name);
    if (!found.empty()) return found;
  }
  return "";
}

std::string Program(const std::string& path) { return path.empty() ? "sawbill" : "sawbill " + path; }

/// "; did you mean 'X'?", or nothing.
std::string Suggestion(const std::string& near, Lang lang) {
  return near.empty() ? std::string() : Tr(lang, Msg::kAppDidYouMean, near);
}

std::string UnknownFlag(const CommandSpec& root, const std::string& path, const std::string& word, Lang lang) {
  const std::string name = word.substr(0, word.find('='));
  const CommandSpec* command = FindCommand(root, path);
  const std::string near = Nearest(name, FlagNames(*command));
  const std::string elsewhere = near.empty() ? CommandWithFlag(root, name) : "";
  if (!elsewhere.empty()) return Tr(lang, Msg::kAppFlagOfOther, name, Program(elsewhere), Program(path));
  return Tr(lang, Msg::kAppUnknownFlag, name, Program(path)) + Suggestion(near, lang);
}

std::string UnknownWord(const CommandSpec& root, const std::string& path, const std::string& word, Lang lang) {
  for (const PlannedCommand& planned : PlannedCommands()) {
    if (path.empty() && word == planned.name) {
      return Tr(lang, Msg::kAppNotInThisVersion, "sawbill " + word) + std::string(Text(lang, planned.instead));
    }
  }
  const CommandSpec* command = FindCommand(root, path);
  if (command->subcommands.empty()) return Tr(lang, Msg::kAppUnexpected, word, Program(path));
  std::vector<std::string> names;
  for (const CommandSpec& sub : command->subcommands)
    names.push_back(sub.path.substr(path.empty() ? 0 : path.size() + 1));
  return Tr(lang, Msg::kAppUnknownCommand, Program(path) + " " + word) + Suggestion(Nearest(word, names), lang);
}

/// CLI11's complaint in our words and the user's language.
std::string Explain(const CLI::ParseError& error, const Parser& parser, const std::string& path, Lang lang) {
  const CommandSpec root = Describe(parser.root, "");
  // By exit code: the name of an ExtrasError is that of the command.
  const auto is = [&error](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::ExtrasError)) {
    const std::vector<std::string> extras = parser.root.remaining(true);
    for (const std::string& word : extras) {
      if (word == "--") continue;
      if (word.size() > 1 && word[0] == '-') return UnknownFlag(root, path, word, lang);
      return UnknownWord(root, path, word, lang);
    }
  }
  if (is(CLI::ExitCodes::RequiredError)) {
    const CommandSpec* command = FindCommand(root, path);
    for (const PositionalSpec& p : command->positionals) {
      if (p.required) return Tr(lang, Msg::kAppMissingPositional, Program(path), p.name);
    }
  }
  const std::string what = error.what();
  if (is(CLI::ExitCodes::ArgumentMismatch)) {
    const std::string flag = what.substr(0, what.find_first_of(": "));
    if (StartsWith(flag, "-")) return Tr(lang, Msg::kAppMissingValue, flag);
  }
  return what;
}

/// A planned command must be answered even with flags and arguments of its own, which the parser does not know: it is
/// looked for before parsing, where a command's name may stand.
std::string PlannedWord(const std::vector<std::string>& args, const CommandSpec& root) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!StartsWith(args[i], "-")) {
      for (const PlannedCommand& p : PlannedCommands()) {
        if (args[i] == p.name) return p.name;
      }
      return "";
    }
    for (const FlagSpec& f : root.flags) {
      for (const std::string& n : f.names) i += !f.value.empty() && args[i] == n ? 1 : 0;
    }
  }
  return "";
}

}  // namespace

CommandSpec DescribeCommands(Lang lang) {
  const Parser parser(lang);
  return Describe(parser.root, "");
}

const CommandSpec* FindCommand(const CommandSpec& root, const std::string& path) {
  if (root.path == path) return &root;
  for (const CommandSpec& sub : root.subcommands) {
    if (const CommandSpec* found = FindCommand(sub, path)) return found;
  }
  return nullptr;
}

ParseOutcome ParseCommandLine(const std::vector<std::string>& words, Lang lang) {
  std::vector<std::string> args = words;
  if (!args.empty() && args[0] == "help") {  // "help report", as of other programs
    args.erase(args.begin());
    args.emplace_back("--help");
  }
  Parser parser(lang);
  ParseOutcome out;
  const std::string planned = PlannedWord(args, Describe(parser.root, ""));
  if (!planned.empty()) {
    out.kind = ParseOutcome::Kind::kError;
    out.error = UnknownWord(Describe(parser.root, ""), "", planned, lang);
    return out;
  }
  try {
    parser.root.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    out.command = PathOf(parser.root);
  } catch (const CLI::CallForHelp&) {
    out.kind = ParseOutcome::Kind::kHelp;
    out.command = PathOf(parser.root);
  } catch (const CLI::ParseError& e) {
    out.kind = ParseOutcome::Kind::kError;
    out.command = PathOf(parser.root);
    out.error = Explain(e, parser, out.command, lang);
  }
  out.options = std::move(parser.options);
  out.options.command = out.command;
  return out;
}

}  // namespace sawbill::app
