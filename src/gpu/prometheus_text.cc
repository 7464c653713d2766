// SPDX-License-Identifier: Apache-2.0
#include "gpu/prometheus_text.h"

#include <cctype>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::gpu {
namespace {

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

std::string_view TakeName(std::string_view* rest) {
  size_t n = 0;
  while (n < rest->size() && IsNameChar((*rest)[n])) ++n;
  const std::string_view name = rest->substr(0, n);
  rest->remove_prefix(n);
  return name;
}

void SkipBlanks(std::string_view* rest) {
  while (!rest->empty() && (rest->front() == ' ' || rest->front() == '\t')) rest->remove_prefix(1);
}

/// Whether the text after a quote goes on as it must after a label value: with `}`, or with `, name=` (or `,}`).
bool ValueEnds(std::string_view after) {
  SkipBlanks(&after);
  if (after.empty()) return false;
  if (after.front() == '}') return true;
  if (after.front() != ',') return false;
  after.remove_prefix(1);
  SkipBlanks(&after);
  if (!after.empty() && after.front() == '}') return true;
  const std::string_view name = TakeName(&after);
  SkipBlanks(&after);
  return !name.empty() && !after.empty() && after.front() == '=';
}

/// From behind the opening quote to behind the closing one.
bool TakeValue(std::string_view* rest, std::string* value) {
  value->clear();
  for (size_t i = 0; i < rest->size(); ++i) {
    const char c = (*rest)[i];
    const char next = i + 1 < rest->size() ? (*rest)[i + 1] : '\0';
    if (c == '\\' && (next == '\\' || next == 'n' || (next == '"' && !ValueEnds(rest->substr(i + 2))))) {
      value->push_back(next == 'n' ? '\n' : next);
      ++i;
    } else if (c == '"' && ValueEnds(rest->substr(i + 1))) {
      rest->remove_prefix(i + 1);
      return true;
    } else {
      value->push_back(c);
    }
  }
  return false;
}

bool TakeLabels(std::string_view* rest, PromSample* sample) {
  size_t count = 0;
  for (;;) {
    SkipBlanks(rest);
    if (!rest->empty() && rest->front() == '}') {
      rest->remove_prefix(1);
      sample->labels.resize(count);
      return true;
    }
    const std::string_view name = TakeName(rest);
    SkipBlanks(rest);
    if (name.empty() || rest->empty() || rest->front() != '=') return false;
    rest->remove_prefix(1);
    SkipBlanks(rest);
    if (rest->empty() || rest->front() != '"') return false;
    rest->remove_prefix(1);
    if (count == sample->labels.size()) sample->labels.emplace_back();
    sample->labels[count].first.assign(name);
    if (!TakeValue(rest, &sample->labels[count].second)) return false;
    ++count;
    SkipBlanks(rest);
    if (!rest->empty() && rest->front() == ',') rest->remove_prefix(1);
  }
}

}  // namespace

std::string_view PromSample::Label(std::string_view key) const {
  for (const auto& [label, text] : labels) {
    if (label == key) return text;
  }
  return {};
}

bool ParsePromLine(std::string_view line, PromSample* sample) {
  std::string_view rest = Trim(line);
  if (rest.empty() || rest.front() == '#') return false;
  sample->name.assign(TakeName(&rest));
  if (sample->name.empty()) return false;
  SkipBlanks(&rest);
  if (!rest.empty() && rest.front() == '{') {
    rest.remove_prefix(1);
    if (!TakeLabels(&rest, sample)) return false;
  } else {
    sample->labels.clear();
  }
  SkipBlanks(&rest);
  const std::string_view number = rest.substr(0, rest.find_first_of(" \t"));  // a time in ms may follow
  if (number.empty()) return false;
  sample->value = ParseDouble(number).value_or(kMissing);
  return true;
}

}  // namespace sawbill::gpu
