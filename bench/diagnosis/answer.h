// SPDX-License-Identifier: Apache-2.0
// What a monitor says about one recording, whichever monitor it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sawbill::bench {

/// Shares of the bill, 0 to 1.
struct ClaimedSaving {
  double low = 0, expected = 0, high = 0;
};

struct Claim {
  std::string id, cause;  // as in the catalogue of findings; cause may be empty
  std::optional<double> period_s;
  ClaimedSaving saving;
  std::vector<std::string> gpus;
};

struct Answer {
  bool crashed = false;
  std::string error;
  std::vector<Claim> claims;
  std::map<std::string, double> ledger_s;  // card-seconds by line; empty where a monitor keeps none
  double ledger_cost = 0, cost = 0;

  const Claim* Find(const std::string& id) const {
    for (const Claim& c : claims) {
      if (c.id == id) return &c;
    }
    return nullptr;
  }
};

}  // namespace sawbill::bench
