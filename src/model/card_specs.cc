// SPDX-License-Identifier: Apache-2.0
#include "model/card_specs.h"

#include <cctype>

#include "base/text.h"

namespace sawbill::model {
namespace {
// NVLink: aggregate bandwidth in one direction; power: the limit the card is sold with. From NVIDIA's data sheets and
// architecture white papers. A variant stands before the plain name.
constexpr CardSpec kSpecs[] = {
    {"P100", "PCIE", 0, 250, false},  {"P100", "", 80, 300, false},
    {"V100", "PCIE", 0, 250, true},   {"V100", "SXM3", 150, 350, true},
    {"V100", "", 150, 300, true},     {"V100S", "", 0, 250, true},
    {"T4", "", 0, 70, true},          {"A100", "PCIE-40GB", 300, 250, true},
    {"A100", "PCIe", 300, 300, true}, {"A100", "", 300, 400, true},
    {"A800", "PCIe", 200, 300, true}, {"A800", "", 200, 400, true},
    {"A30", "", 100, 165, true},      {"A40", "", 56, 300, true},
    {"A10", "", 0, 150, true},        {"A10G", "", 0, 300, true},
    {"A6000", "", 56, 300, true},     {"L4", "", 0, 72, true},
    {"L40", "", 0, 300, true},        {"L40S", "", 0, 350, true},
    {"H100", "PCIe", 300, 350, true}, {"H100", "NVL", 300, 400, true},
    {"H100", "", 450, 700, true},     {"H800", "PCIe", 200, 350, true},
    {"H800", "", 200, 700, true},     {"H200", "NVL", 450, 600, true},
    {"H200", "", 450, 700, true},     {"H20", "", 450, 400, true},
    {"GH200", "", 450, 0, true},      {"B200", "", 900, 1000, true},
    {"GB200", "", 900, 1200, true},   {"3090", "Laptop", 0, 0, true},
    {"3090", "Ti", 56, 450, true},    {"3090", "", 56, 350, true},
    {"4090", "Laptop", 0, 0, true},   {"4090", "D", 0, 425, true},
    {"4090", "", 0, 450, true},       {"5090", "Laptop", 0, 0, true},
    {"5090", "", 0, 575, true},       {"3080", "Laptop", 0, 0, true},
    {"3080", "Ti", 0, 350, true},     {"3080", "", 0, 320, true},
    {"4080", "Laptop", 0, 0, true},   {"4080", "", 0, 320, true},
};
bool Word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Both in small letters.
bool HasWords(std::string_view name, std::string_view words) {
  if (words.empty()) return true;
  for (size_t at = 0; (at = name.find(words, at)) != std::string_view::npos; ++at) {
    const size_t end = at + words.size();
    if ((at == 0 || !Word(name[at - 1])) && (end == name.size() || !Word(name[end]))) return true;
  }
  return false;
}
}  // namespace

std::optional<CardSpec> FindCardSpec(std::string_view product_name) {
  const std::string name = ToLower(product_name);
  for (const CardSpec& s : kSpecs) {
    if (HasWords(name, ToLower(s.model)) && HasWords(name, ToLower(s.variant))) return s;
  }
  return std::nullopt;
}

}  // namespace sawbill::model
