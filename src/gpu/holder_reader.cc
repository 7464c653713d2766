// SPDX-License-Identifier: Apache-2.0
#include "gpu/holder_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sawbill::gpu {
namespace {

using nvml::Device;
using nvml::u32;
using nvml::u64;

constexpr u32 kMostPid = 1U << 22;      // Linux's own limit
constexpr u32 kMostEntries = 1U << 16;  // more than this is a count that was not written
constexpr double kMib = 1024.0 * 1024.0;

/// Room for what was asked for, and for processes that start in between (pynvml takes the same).
u32 Roomier(u32 needed) { return std::min(2 * std::min(needed, kMostEntries) + 5, kMostEntries); }

u32 Load32(const unsigned char* at) {
  u32 v = 0;
  std::memcpy(&v, at, sizeof(v));
  return v;
}
u64 Load64(const unsigned char* at) {
  u64 v = 0;
  std::memcpy(&v, at, sizeof(v));
  return v;
}

bool IsPid(u32 pid) { return pid > 0 && pid < kMostPid; }

bool Plausible(const std::vector<unsigned char>& buffer, size_t count, size_t stride) {
  for (size_t i = 0; i < count; ++i) {
    const unsigned char* entry = buffer.data() + i * stride;
    if (!IsPid(Load32(entry))) return false;
    if (stride == 16) continue;
    const u32 gi = Load32(entry + 16), ci = Load32(entry + 20);
    if ((gi != nvml::kNoInstance && gi > 63) || (ci != nvml::kNoInstance && ci > 63)) return false;
  }
  return true;
}

}  // namespace

size_t ProcessStride(const std::vector<unsigned char>& buffer, size_t count) {
  if (count == 0) return 0;
  // How far the driver wrote says it, unless it cleared more than it filled.
  size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kProcessFill) --written;
  for (size_t stride : {24, 32, 16}) {
    if (written == count * stride && Plausible(buffer, count, stride)) return stride;
  }
  for (size_t stride : {24, 32, 16}) {
    if (written > count * stride && Plausible(buffer, count, stride)) return stride;
  }
  return 0;
}

void HolderReader::Read(const NvmlApi& api, Device device, const std::string& gpu, Attempt* attempt,
                        CardReading* reading) {
  found_.clear();
  if (!ReadDetailLists(api, device, attempt)) ReadLists(api, device, attempt);
  const bool shares_told = ReadShares(api, device, attempt);
  for (model::CardHolder& h : found_) {
    h.gpu = gpu;
    h.sm_util = shares_told ? ShareOf(h.pid) : kMissing;
    reading->holders.push_back(h);
  }
}

/// A process of two lists (compute and graphics) has the same memory in both: it is one holder, counted once.
void HolderReader::Add(u32 pid, u64 bytes) {
  if (!IsPid(pid)) return;
  const double mb = bytes == nvml::kMemoryUnknown ? kMissing : static_cast<double>(bytes) / kMib;
  const bool sound = mb >= 0 && mb <= model::Info(model::ProcessMetric::kGpuMemMb).max;
  const auto it = std::find_if(found_.begin(), found_.end(), [&](const auto& h) { return h.pid == pid; });
  model::CardHolder& h = it != found_.end() ? *it : found_.emplace_back();
  h.pid = pid;
  if (sound && !(h.gpu_mem_mb >= mb)) h.gpu_mem_mb = mb;
}

/// The list whose entries cannot be misread (a version word says their size). True when the driver has it.
bool HolderReader::ReadDetailLists(const NvmlApi& api, Device device, Attempt* attempt) {
  if (!attempt->Wants(Ask::kDetailList)) return false;
  if (details_.empty()) details_.resize(32);
  for (u32 mode : {nvml::kProcessesCompute, nvml::kProcessesGraphics, nvml::kProcessesMps}) {
    nvml::ProcessDetailList list = {};
    int code = nvml::kInsufficientSize;
    for (int round = 0; round < 3 && code == nvml::kInsufficientSize; ++round) {
      if (round > 0) details_.resize(Roomier(list.numProcArrayEntries));
      std::fill(details_.begin(), details_.end(), nvml::ProcessDetail{0, nvml::kMemoryUnknown, 0, 0, 0});
      list = {nvml::kProcessDetailListVersion, mode, static_cast<u32>(details_.size()), details_.data()};
      code = Call(api.nvmlDeviceGetRunningProcessDetailList, device, &list);
    }
    // A mode that a driver does not know is no reason to do without the others.
    if (mode != nvml::kProcessesCompute && Classify(code) == CodeClass::kAbsent) continue;
    if (!attempt->Took(Ask::kDetailList, code)) return attempt->over();
    const u32 count = std::min(list.numProcArrayEntries, static_cast<u32>(details_.size()));
    for (u32 i = 0; i < count; ++i) Add(details_[i].pid, details_[i].usedGpuMemory);
  }
  return true;
}

void HolderReader::ReadLists(const NvmlApi& api, Device device, Attempt* attempt) {
  ReadList(Ask::kComputeList, device, attempt, api.nvmlDeviceGetComputeRunningProcesses_v3,
           api.nvmlDeviceGetComputeRunningProcesses_v2, api.nvmlDeviceGetComputeRunningProcesses);
  ReadList(Ask::kGraphicsList, device, attempt, api.nvmlDeviceGetGraphicsRunningProcesses_v3,
           api.nvmlDeviceGetGraphicsRunningProcesses_v2, api.nvmlDeviceGetGraphicsRunningProcesses);
  ReadList(Ask::kMpsList, device, attempt, api.nvmlDeviceGetMPSComputeRunningProcesses_v3,
           api.nvmlDeviceGetMPSComputeRunningProcesses_v2, api.nvmlDeviceGetMPSComputeRunningProcesses);
}

template <typename Newest, typename Middle, typename Oldest>
void HolderReader::ReadList(Ask ask, Device device, Attempt* attempt, Newest* v3, Middle* v2, Oldest* v1) {
  if (!attempt->Wants(ask)) return;
  u32 count = 0;
  int code = nvml::kInsufficientSize;
  u32 room = 32;
  for (int round = 0; round < 3 && code == nvml::kInsufficientSize; ++round) {
    if (round > 0) room = Roomier(count);
    buffer_.assign(size_t{room} * 32 + 64, kProcessFill);  // the widest entry that any driver wrote, and some
    count = room;
    code = CallEither(v3, v2, device, &count, reinterpret_cast<nvml::ProcessInfo*>(buffer_.data()));
    if (code == nvml::kFunctionNotFound) {
      count = room;
      code = Call(v1, device, &count, reinterpret_cast<nvml::ProcessInfoV1*>(buffer_.data()));
    }
  }
  if (!attempt->Took(ask, code)) return;
  count = std::min(count, room);
  const size_t stride = ProcessStride(buffer_, count);
  for (size_t i = 0; stride > 0 && i < count; ++i) {
    Add(Load32(buffer_.data() + i * stride), Load64(buffer_.data() + i * stride + 8));
  }
}

bool HolderReader::ReadShares(const NvmlApi& api, Device device, Attempt* attempt) {
  shares_.clear();
  Ask ask = Ask::kProcessesUtil;
  int code = nvml::kFunctionNotFound;
  if (attempt->Wants(ask)) code = FetchNewShares(api, device);
  if (Classify(code) == CodeClass::kAbsent) {
    if (attempt->Wants(ask)) attempt->Took(ask, code);
    ask = Ask::kProcessUtil;
    if (!attempt->Wants(ask)) return false;
    code = FetchOldShares(api, device);
  }
  // "Not found" is the ordinary answer of a card on which no process did anything since.
  const bool told = code == nvml::kNotFound || attempt->Took(ask, code);
  if (!told) return false;
  // Rings come with entries of no time, of long ago, and with percentages in the thousands, and in no order.
  std::erase_if(shares_,
                [&](const Share& s) { return s.time_us <= last_seen_us_ || s.percent > 100 || !IsPid(s.pid); });
  for (const Share& s : shares_) last_seen_us_ = std::max(last_seen_us_, s.time_us);
  // Before the first look the ring holds seconds or hours of others: it only says from when on to count.
  return std::exchange(primed_, true);
}

int HolderReader::FetchNewShares(const NvmlApi& api, Device device) {
  nvml::ProcessesUtilizationInfo info = {};
  int code = nvml::kInsufficientSize;
  if (new_samples_.empty()) new_samples_.resize(128);
  for (int round = 0; round < 3 && code == nvml::kInsufficientSize; ++round) {
    if (round > 0) new_samples_.resize(Roomier(info.processSamplesCount));
    std::fill(new_samples_.begin(), new_samples_.end(), nvml::ProcessUtilizationInfo{});
    info = {nvml::kProcessesUtilizationVersion, static_cast<u32>(new_samples_.size()), last_seen_us_,
            new_samples_.data()};
    code = Call(api.nvmlDeviceGetProcessesUtilizationInfo, device, &info);
  }
  if (code != nvml::kSuccess) return code;
  const size_t count = std::min(size_t{info.processSamplesCount}, new_samples_.size());
  for (size_t i = 0; i < count; ++i) {
    const nvml::ProcessUtilizationInfo& s = new_samples_[i];
    shares_.push_back({s.pid, s.timeStamp, static_cast<double>(s.smUtil)});
  }
  return code;
}

int HolderReader::FetchOldShares(const NvmlApi& api, Device device) {
  u32 count = 0;
  int code = nvml::kInsufficientSize;
  if (old_samples_.empty()) old_samples_.resize(128);
  for (int round = 0; round < 3 && code == nvml::kInsufficientSize; ++round) {
    if (round > 0) old_samples_.resize(Roomier(count));
    std::fill(old_samples_.begin(), old_samples_.end(), nvml::ProcessUtilizationSample{});
    count = static_cast<u32>(old_samples_.size());
    code = Call(api.nvmlDeviceGetProcessUtilization, device, old_samples_.data(), &count, last_seen_us_);
  }
  if (code != nvml::kSuccess) return code;
  for (size_t i = 0; i < std::min(size_t{count}, old_samples_.size()); ++i) {
    const nvml::ProcessUtilizationSample& s = old_samples_[i];
    shares_.push_back({s.pid, s.timeStamp, static_cast<double>(s.smUtil)});
  }
  return code;
}

/// Mean of what the ring says of it; a process without an entry did nothing.
double HolderReader::ShareOf(int64_t pid) const {
  double sum = 0;
  int entries = 0;
  for (const Share& s : shares_) {
    if (s.pid != pid) continue;
    sum += s.percent;
    ++entries;
  }
  return entries == 0 ? 0 : sum / entries;
}

}  // namespace sawbill::gpu
