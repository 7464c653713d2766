// SPDX-License-Identifier: Apache-2.0
// Completion scripts, written from the commands and flags that the parser has. A value "a|b|c" completes to these
// words, FILE and DIR to paths.
#include <algorithm>

#include "app/cli.h"
#include "base/text.h"
#include "model/ids.h"

namespace sawbill::app {
namespace {

struct Flat {
  const CommandSpec* command;
  std::string last;  // its own word
};

void Flatten(const CommandSpec& c, std::vector<Flat>* out) {
  const size_t blank = c.path.rfind(' ');
  out->push_back({&c, blank == std::string::npos ? c.path : c.path.substr(blank + 1)});
  for (const CommandSpec& sub : c.subcommands) Flatten(sub, out);
}

/// The words that a value can be, where there are few: "en|zh". Amounts ("2%|5") and names (FILE) are none.
std::vector<std::string> Choices(const std::string& value) {
  std::vector<std::string> out;
  if (value == "FINDING") {
    for (size_t i = 0; i < model::kFindingIds; ++i) out.emplace_back(model::Name(static_cast<model::FindingId>(i)));
    return out;
  }
  if (value.find('|') == std::string::npos || value.find_first_of("0123456789") != std::string::npos) return out;
  for (std::string_view word : Split(value, '|')) out.emplace_back(word);
  return out;
}

bool IsPath(const std::string& value) { return value == "FILE" || value == "DIR" || value == "RULES"; }

std::vector<std::string> WordsOf(const CommandSpec& c) {
  std::vector<std::string> words;
  for (const CommandSpec& sub : c.subcommands) words.push_back(sub.path.substr(c.path.empty() ? 0 : c.path.size() + 1));
  for (const PositionalSpec& p : c.positionals) {
    const auto choices = Choices(p.name);
    words.insert(words.end(), choices.begin(), choices.end());
  }
  return words;
}

std::vector<std::string> FlagWords(const CommandSpec& c) {
  std::vector<std::string> words;
  for (const FlagSpec& f : c.flags) words.insert(words.end(), f.names.begin(), f.names.end());
  return words;
}

bool TakesFiles(const CommandSpec& c) {
  return std::any_of(c.positionals.begin(), c.positionals.end(),
                     [](const PositionalSpec& p) { return IsPath(p.name); });
}

/// Inside single quotes of a shell.
std::string Quote(std::string_view s) {
  std::string out = "'";
  for (char c : s) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string Bash(const std::vector<Flat>& commands) {
  std::string out =
      "# bash completion for sawbill, written by `sawbill completion bash`\n_sawbill() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=${COMP_WORDS[i]}\n    case \"$path $word\" in\n";
  for (const Flat& f : commands) {
    if (f.command->path.empty()) continue;
    const size_t blank = f.command->path.rfind(' ');
    const std::string parent = blank == std::string::npos ? "" : f.command->path.substr(0, blank);
    out += "      " + Quote(parent + " " + f.last) + ") path=" + Quote(f.command->path) + " ;;\n";
  }
  out += "    esac\n  done\n  local words= files=\n  case \"$path:$prev\" in\n";
  for (const Flat& f : commands) {
    for (const FlagSpec& flag : f.command->flags) {
      if (flag.value.empty()) continue;
      for (const std::string& name : flag.names) {
        const std::string choices = Join(Choices(flag.value), " ");
        out += "    " + Quote(f.command->path + ":" + name) + ") words=" + Quote(choices) +
               (IsPath(flag.value) ? " files=1" : "") + " ;;\n";
      }
    }
  }
  out += "    *) case \"$path\" in\n";
  for (const Flat& f : commands) {
    std::vector<std::string> words = WordsOf(*f.command);
    const auto flags = FlagWords(*f.command);
    words.insert(words.end(), flags.begin(), flags.end());
    out += "      " + Quote(f.command->path) + ") words=" + Quote(Join(words, " ")) +
           (TakesFiles(*f.command) ? " files=1" : "") + " ;;\n";
  }
  out +=
      "    esac ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  if [[ -n $files && $cur != -* ]]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n}\n"
      "complete -o filenames -F _sawbill sawbill\n";
  return out;
}

/// "word:description" for _describe.
std::string ZshItem(const std::string& word, const std::string& help) {
  std::string escaped;
  for (char c : word) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return Quote(escaped + ":" + help);
}

std::string Zsh(const std::vector<Flat>& commands) {
  std::string out =
      "#compdef sawbill\n# zsh completion for sawbill, written by `sawbill completion zsh`\n_sawbill() {\n"
      "  local path= word i files=\n  local -a items\n  for ((i = 2; i < CURRENT; i++)); do\n    word=${words[i]}\n"
      "    case \"$path $word\" in\n";
  for (const Flat& f : commands) {
    if (f.command->path.empty()) continue;
    const size_t blank = f.command->path.rfind(' ');
    const std::string parent = blank == std::string::npos ? "" : f.command->path.substr(0, blank);
    out += "      " + Quote(parent + " " + f.last) + ") path=" + Quote(f.command->path) + " ;;\n";
  }
  out += "    esac\n  done\n  case \"$path:${words[CURRENT-1]}\" in\n";
  for (const Flat& f : commands) {
    for (const FlagSpec& flag : f.command->flags) {
      if (flag.value.empty()) continue;
      for (const std::string& name : flag.names) {
        std::string act = "_message " + Quote(flag.value);
        if (IsPath(flag.value)) act = "_files";
        if (!Choices(flag.value).empty()) act = "compadd -- " + Join(Choices(flag.value), " ");
        out += "    " + Quote(f.command->path + ":" + name) + ") " + act + "; return ;;\n";
      }
    }
  }
  out += "  esac\n  case \"$path\" in\n";
  for (const Flat& f : commands) {
    out += "    " + Quote(f.command->path) + ") items=(";
    for (const CommandSpec& sub : f.command->subcommands) {
      out +=
          "\n      " + ZshItem(sub.path.substr(f.command->path.empty() ? 0 : f.command->path.size() + 1), sub.summary);
    }
    for (const PositionalSpec& p : f.command->positionals) {
      for (const std::string& word : Choices(p.name)) out += "\n      " + ZshItem(word, "");
    }
    for (const FlagSpec& flag : f.command->flags) {
      for (const std::string& name : flag.names) out += "\n      " + ZshItem(name, flag.help);
    }
    out += std::string(")") + (TakesFiles(*f.command) ? " files=1" : "") + " ;;\n";
  }
  out +=
      "  esac\n  _describe 'sawbill' items\n  if [[ -n $files && ${words[CURRENT]} != -* ]]; then _files; fi\n}\n"
      "if [[ $funcstack[1] == _sawbill ]]; then _sawbill \"$@\"; else compdef _sawbill sawbill; fi\n";
  return out;
}

/// The condition under which a command's completions are offered in fish.
std::string FishWhen(const std::string& path) {
  if (path.empty()) return "__fish_use_subcommand";
  std::string when;
  for (std::string_view word : Split(path, ' ')) {
    when += (when.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + std::string(word));
  }
  return when;
}

std::string Fish(const std::vector<Flat>& commands) {
  std::string out = "# fish completion for sawbill, written by `sawbill completion fish`\ncomplete -c sawbill -f\n";
  for (const Flat& f : commands) {
    const CommandSpec& c = *f.command;
    std::string when = FishWhen(c.path);
    std::vector<std::string> own;
    for (const CommandSpec& sub : c.subcommands) own.push_back(sub.path.substr(c.path.empty() ? 0 : c.path.size() + 1));
    if (!own.empty() && !c.path.empty()) when += "; and not __fish_seen_subcommand_from " + Join(own, " ");
    const std::string head = "complete -c sawbill -n " + Quote(when);
    for (size_t i = 0; i < own.size(); ++i)
      out += head + " -a " + Quote(own[i]) + " -d " + Quote(c.subcommands[i].summary) + "\n";
    for (const PositionalSpec& p : c.positionals) {
      if (!Choices(p.name).empty()) out += head + " -a " + Quote(Join(Choices(p.name), " ")) + "\n";
    }
    if (TakesFiles(c)) out += head + " -F\n";
    for (const FlagSpec& flag : c.flags) {
      out += head;
      for (const std::string& n : flag.names) out += StartsWith(n, "--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
      if (!flag.value.empty()) out += IsPath(flag.value) ? " -r -F" : " -x";
      if (!Choices(flag.value).empty()) out += " -a " + Quote(Join(Choices(flag.value), " "));
      out += " -d " + Quote(flag.help) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string RenderCompletion(const CommandSpec& root, const std::string& shell) {
  std::vector<Flat> commands;
  Flatten(root, &commands);
  if (shell == "bash") return Bash(commands);
  if (shell == "zsh") return Zsh(commands);
  if (shell == "fish") return Fish(commands);
  return "";
}

}  // namespace sawbill::app
