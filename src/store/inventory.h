// SPDX-License-Identifier: Apache-2.0
// inventory.csv: which card an index meant, and since when. Cards are identified by (node, uuid), never by index alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "model/recording.h"
#include "sys/file.h"

namespace sawbill::store {

inline constexpr const char* kInventoryName = "inventory.csv";
extern const char* const kInventoryHeader;

class Inventory {
 public:
  /// `node`: for rows whose node cell is empty. `where`: the file's name, for counts in `quality`.
  static Inventory Parse(std::string_view text, const std::string& node, const TimeZone& tz, const std::string& where,
                         model::DataQuality* quality);

  /// The row of `gpu` that is valid at `t`: the last with from <= t, else the earliest there is (a recorder that came
  /// later says most about what was there before). nullptr when the inventory does not know `gpu`.
  /// `valid_from`, `valid_to` (if given) receive the times [from, to) for which the answer is the same.
  const model::CardInfo* At(std::string_view gpu, TimeMs t, TimeMs* valid_from = nullptr,
                            TimeMs* valid_to = nullptr) const;
  /// All rows, in the order of (gpu, from).
  std::vector<model::CardInfo> Rows() const;
  bool empty() const { return cards_.empty(); }
  /// The node that all rows name, else "".
  const std::string& node() const { return node_; }

 private:
  std::map<std::string, std::vector<model::CardInfo>, std::less<>> cards_;  // by gpu cell; each by `from`
  std::string node_;
};

/// Brings <dir>/inventory.csv up to date with the cards seen now: a row for each card that is new or changed (`from` =
/// `now`; empty for an index never seen before), written atomically; nothing is written when nothing changed. What
/// could not be read this time keeps its last value, and an empty label the owner's own tag. Rows of the past are never
/// touched.
Status UpdateInventory(sys::FileSystem* fs, const std::string& dir, const std::vector<model::CardInfo>& cards,
                       TimeMs now, const TimeZone& tz);

}  // namespace sawbill::store
