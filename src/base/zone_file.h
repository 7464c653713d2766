// SPDX-License-Identifier: Apache-2.0
// Time zones from the system's database (TZif, RFC 8536). Read here and not by a library: Debian's date-tz is a shared
// object that the containers this program is copied into do not have, and it fails where tzdata is slim.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill {

/// Seconds since the Unix epoch, UTC: [begin_s, end_s) with one offset.
struct ZoneStretch {
  int64_t begin_s = std::numeric_limits<int64_t>::min(), end_s = std::numeric_limits<int64_t>::max();
  int offset_s = 0;
};

class ZoneFile {
 public:
  /// By IANA name; nullptr when the database does not have it. Each is read once and stays for the life of the process.
  static const ZoneFile* Locate(const std::string& name);
  /// The machine's own zone, and its name ("local" where only the file is there); nullptr when it has none.
  static const ZoneFile* Current(std::string* name);
  /// Nothing when the bytes are no TZif file.
  static std::unique_ptr<ZoneFile> Parse(std::string_view bytes);

  ZoneStretch At(int64_t utc_s) const;
  /// The instant of a local time: the earlier one where it comes twice, the end of the gap where it does not come.
  int64_t FromLocal(int64_t local_s) const;

 private:
  struct Change {
    int64_t at_s;
    int offset_s;
  };
  bool AddRule(std::string_view footer);

  int first_offset_s_ = 0;
  std::vector<Change> changes_;
};

}  // namespace sawbill
