// SPDX-License-Identifier: Apache-2.0
// Processes that the driver says hold a card: who, how much memory, and which share of the SMs since the last look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/attempt.h"
#include "gpu/nvml_api.h"

namespace sawbill::gpu {

/// Bytes between entries that a v3 process list of `count` entries was written with: 24; 32 by some early 535 drivers
/// under the same function name; 16 was reported. 0 = cannot be told. `buffer` was full of kProcessFill before.
size_t ProcessStride(const std::vector<unsigned char>& buffer, size_t count);
inline constexpr unsigned char kProcessFill = 0xA5;

class HolderReader {
 public:
  /// Appends to `reading->holders`, each process once, under the name `gpu`.
  void Read(const NvmlApi& api, nvml::Device device, const std::string& gpu, Attempt* attempt, CardReading* reading);

 private:
  struct Share {
    nvml::u32 pid;
    nvml::u64 time_us;
    double percent;
  };
  bool ReadDetailLists(const NvmlApi& api, nvml::Device device, Attempt* attempt);
  void ReadLists(const NvmlApi& api, nvml::Device device, Attempt* attempt);
  template <typename Newest, typename Middle, typename Oldest>
  void ReadList(Ask ask, nvml::Device device, Attempt* attempt, Newest* v3, Middle* v2, Oldest* v1);
  void Add(nvml::u32 pid, nvml::u64 bytes);

  /// Shares newer than last time; nothing when the card does not tell, or at the first look.
  bool ReadShares(const NvmlApi& api, nvml::Device device, Attempt* attempt);
  int FetchNewShares(const NvmlApi& api, nvml::Device device);
  int FetchOldShares(const NvmlApi& api, nvml::Device device);
  double ShareOf(int64_t pid) const;

  std::vector<model::CardHolder> found_;
  std::vector<unsigned char> buffer_;
  std::vector<nvml::ProcessDetail> details_;
  std::vector<nvml::ProcessUtilizationInfo> new_samples_;
  std::vector<nvml::ProcessUtilizationSample> old_samples_;
  std::vector<Share> shares_;
  nvml::u64 last_seen_us_ = 0;
  bool primed_ = false;
};

}  // namespace sawbill::gpu
