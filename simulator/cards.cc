// SPDX-License-Identifier: Apache-2.0
// Limits, memory and maximum clocks are those of the data sheets. Idle power, thermal constants and the utilisation
// window of each model are plausible values, not measurements: the window is documented only as 1/6 s to 1 s (nvml.h).
#include "simulator/cards.h"

#include "base/text.h"

namespace sawbill::simulator {
namespace {
constexpr CardModel kCards[] = {
    {"Tesla V100-SXM2-32GB", "v100", 32768, 42, 300, 1530, 225, 877, 877, 34, 0.110, 60, 83, false, false, true,
     1.0 / 6},
    {"NVIDIA A100-SXM4-80GB", "a100", 81920, 63, 400, 1410, 210, 1593, 1593, 26, 0.080, 55, 85, false, false, true,
     0.25},
    {"NVIDIA H100 80GB HBM3", "h100", 81559, 70, 700, 1980, 345, 2619, 2619, 25, 0.048, 50, 87, true, true, true, 0.5},
    {"NVIDIA H200", "h200", 143771, 76, 700, 1980, 345, 3201, 3201, 25, 0.046, 50, 87, true, true, true, 1.0},
    {"NVIDIA L40S", "l40s", 46068, 34, 350, 2520, 210, 9001, 405, 28, 0.120, 70, 87, false, true, false, 1.0 / 6},
    {"NVIDIA GeForce RTX 3090", "3090", 24576, 22, 350, 1980, 210, 9751, 405, 30, 0.125, 80, 83, false, true, false,
     1.0},
    {"NVIDIA GeForce RTX 4090", "4090", 24564, 18, 450, 2730, 210, 10501, 405, 28, 0.092, 80, 84, false, true, false,
     1.0},
};
}  // namespace

std::span<const CardModel> Cards() { return kCards; }

const CardModel* FindCard(std::string_view name) {
  const std::string wanted = ToLower(name);
  for (const CardModel& card : kCards) {
    if (wanted == card.short_name || wanted == ToLower(card.name)) return &card;
  }
  return nullptr;
}

}  // namespace sawbill::simulator
