// SPDX-License-Identifier: Apache-2.0
#include "model/card_specs.h"

#include <cctype>

namespace sawbill::model {
namespace {
// NVLink: aggregate bandwidth of the SXM product in one direction, from NVIDIA's architecture white papers and data
// sheets.
constexpr CardSpec kSpecs[] = {
    {"P100", 80, false},  {"V100", 150, true}, {"V100S", 0, true}, {"T4", 0, true},      {"A100", 300, true},
    {"A800", 200, true},  {"A30", 100, true},  {"A40", 56, true},  {"A10", 0, true},     {"A10G", 0, true},
    {"A6000", 56, true},  {"L4", 0, true},     {"L40", 0, true},   {"L40S", 0, true},    {"H100", 450, true},
    {"H800", 200, true},  {"H200", 450, true}, {"H20", 450, true}, {"GH200", 450, true}, {"B200", 900, true},
    {"GB200", 900, true}, {"3090", 56, true},  {"4090", 0, true},  {"5090", 0, true},    {"3080", 0, true},
    {"4080", 0, true},
};
bool Word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
}  // namespace

std::optional<CardSpec> FindCardSpec(std::string_view product_name) {
  for (const CardSpec& s : kSpecs) {
    size_t at = 0;
    while ((at = product_name.find(s.model, at)) != std::string_view::npos) {
      const size_t end = at + s.model.size();
      const bool whole =
          (at == 0 || !Word(product_name[at - 1])) && (end == product_name.size() || !Word(product_name[end]));
      if (whole) return s;
      at = end;
    }
  }
  return std::nullopt;
}

}  // namespace sawbill::model
