// SPDX-License-Identifier: Apache-2.0
// The command line of `play` and `stand-in`. Internal.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sawbill::simulator {

/// Says what is wrong; gives the exit status for it.
int Fail(const std::string& text);

/// "--flag value" pairs in front of "--", what stands alone, and what stands behind.
struct Words {
  std::map<std::string, std::string> flags;
  std::vector<std::string> words, command;
  std::string wrong;
};

Words SortWords(const std::vector<std::string>& args, const std::vector<std::string>& known);
/// -1 when it is no number.
double NumberOr(const Words& w, const std::string& flag, double other);

}  // namespace sawbill::simulator
