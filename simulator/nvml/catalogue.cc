// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/catalogue.h"

#include "base/text.h"

namespace sawbill::nvmlsim {
namespace {
constexpr CardModel kModels[] = {
#define CARD(...) {__VA_ARGS__},
#include "simulator/nvml/catalogue.inc"
#undef CARD
};
}  // namespace

std::span<const CardModel> Catalogue() { return kModels; }

const CardModel* FindModel(std::string_view name) {
  const std::string wanted = ToLower(name);
  for (const CardModel& model : kModels) {
    if (wanted == ToLower(model.key) || wanted == ToLower(model.name)) return &model;
  }
  return nullptr;
}

}  // namespace sawbill::nvmlsim
