// SPDX-License-Identifier: Apache-2.0
#include "simulator/play/words.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::simulator {

int Fail(const std::string& text) {
  constexpr int kUsage = 2;
  fmt::print(stderr, "sawbill-simulate: {}\n", text);
  return kUsage;
}

Words SortWords(const std::vector<std::string>& args, const std::vector<std::string>& known) {
  Words out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      out.command.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      return out;
    }
    if (!StartsWith(args[i], "--")) {
      out.words.push_back(args[i]);
      continue;
    }
    bool is_known = false;
    for (const std::string& k : known) is_known = is_known || args[i] == k;
    if (!is_known || i + 1 == args.size()) {
      out.wrong = is_known ? args[i] + ": a value is missing" : args[i] + ": unknown";
      return out;
    }
    out.flags[args[i]] = args[i + 1];
    ++i;
  }
  return out;
}

double NumberOr(const Words& w, const std::string& flag, double other) {
  const auto it = w.flags.find(flag);
  return it == w.flags.end() ? other : ParseDouble(it->second).value_or(-1);
}

}  // namespace sawbill::simulator
