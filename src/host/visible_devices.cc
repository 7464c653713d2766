// SPDX-License-Identifier: Apache-2.0
// CUDA_VISIBLE_DEVICES as CUDA reads it: a list of indices, of uuids or of unique beginnings of uuids, read up to the
// first entry that names nothing. "" and "-1" hide all cards, "3,9" on a machine of eight shows card 3.
//
// The indices are CUDA's own: FASTEST_FIRST unless CUDA_DEVICE_ORDER=PCI_BUS_ID, while NVML counts by PCI address. The
// two agree when all cards are of one model; with three P40 and one 3090, index 0 is the 3090 in the last slot. Other
// tools have set the wrong card's clocks by this; here it is unknown unless it is certain.
#include <algorithm>

#include "base/text.h"
#include "host/job_identity.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

Visible Unknown() { return {false, {}}; }

bool OneModel(const std::vector<VisibleCard>& cards) {
  return std::all_of(cards.begin(), cards.end(), [&](const VisibleCard& c) { return c.name == cards.front().name; });
}

bool AnyMig(const std::vector<VisibleCard>& cards) {
  return std::any_of(cards.begin(), cards.end(), [](const VisibleCard& c) { return StartsWith(c.uuid, "MIG-"); });
}

}  // namespace

Visible ResolveVisible(const std::string& value, const std::string& device_order,
                       const std::vector<VisibleCard>& cards) {
  // On a card in MIG mode an index means one of its instances, which one is CUDA's choice.
  const bool numbers_agree = (device_order == "PCI_BUS_ID" || OneModel(cards)) && !AnyMig(cards);
  Visible visible;
  for (std::string_view entry : Split(value, ',')) {
    entry = Trim(entry);
    const bool mig = StartsWith(entry, "MIG-");
    size_t found = cards.size();
    if (const auto index = ToU64(entry)) {
      if (*index >= cards.size()) break;
      if (!numbers_agree) return Unknown();
      found = static_cast<size_t>(*index);
    } else if (mig || (StartsWith(entry, "GPU-") && entry.size() > 4)) {
      const auto matches = [&](const VisibleCard& c) { return StartsWith(c.uuid, entry); };
      const auto count = std::count_if(cards.begin(), cards.end(), matches);
      if (count > 1 || (mig && count == 0)) return Unknown();  // an instance that the driver did not tell us of
      if (count == 0) break;
      found = static_cast<size_t>(std::find_if(cards.begin(), cards.end(), matches) - cards.begin());
    } else {
      break;  // "", "-1", "NoDevFiles"
    }
    // What CUDA makes of a card named twice has changed between versions.
    if (std::find(visible.cards.begin(), visible.cards.end(), found) != visible.cards.end()) return Unknown();
    visible.cards.push_back(found);
    if (mig) break;  // a process sees one instance at most
  }
  return visible;
}

}  // namespace sawbill::host
