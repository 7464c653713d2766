// SPDX-License-Identifier: Apache-2.0
// A source for tests: cards whose answers are set by hand, calls that hang until they are let go.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/source.h"

namespace sawbill::collect {

class FakeSource : public gpu::Source {
 public:
  explicit FakeSource(int cards) {
    for (int k = 0; k < cards; ++k) uuids.push_back("GPU-" + std::string(1, static_cast<char>('a' + k)));
  }
  ~FakeSource() override { LetGo(); }

  gpu::SourceStatus Open() override {
    ++opens;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!trouble.ok()) return trouble;
    slots_.clear();
    for (size_t k = 0; k < uuids.size(); ++k) {
      CardSlot slot;
      slot.info.gpu = std::to_string(k);
      slot.info.uuid = uuids[k];
      slot.info.name = "NVIDIA H100 80GB HBM3";
      if (handle_code.contains(uuids[k])) slot.lost_code = handle_code[uuids[k]];
      slots_.push_back(slot);
    }
    is_open = true;
    return {};
  }
  void Close() override { is_open = false; }
  const std::vector<CardSlot>& cards() const override { return slots_; }
  gpu::SourceInfo info() const override { return {"fake", driver, "", "", false, false}; }

  gpu::CardReading ReadQuick(size_t card, int64_t) override {
    std::unique_lock<std::mutex> lock(mutex);
    const std::string uuid = slots_[card].info.uuid;
    ++calls[uuid];
    if (hangs.contains(uuid)) let_go.wait(lock, [&] { return !hangs.contains(uuid); });
    gpu::CardReading r;
    r.values.fill(kMissing);
    r.asked = 12;
    if (answer.contains(uuid)) {
      r.outcome = answer[uuid].first;
      r.code = answer[uuid].second;
    }
    if (r.outcome == gpu::Outcome::kOk) {
      r.values[static_cast<size_t>(model::GpuMetric::kSmUtil)] = 90;
      r.supported = 12;
    }
    return r;
  }
  gpu::CardReading ReadSlow(size_t card, int64_t) override {
    const std::lock_guard<std::mutex> lock(mutex);
    gpu::CardReading r;
    r.values.fill(kMissing);
    if (answer.contains(slots_[card].info.uuid)) {
      r.outcome = answer[slots_[card].info.uuid].first;
      return r;
    }
    r.values[static_cast<size_t>(model::GpuMetric::kPcieRxMbS)] = 1500;
    return r;
  }
  gpu::CardReading ReadHolders(size_t card, int64_t) override {
    const std::lock_guard<std::mutex> lock(mutex);
    gpu::CardReading r;
    for (model::CardHolder h : holders[slots_[card].info.uuid]) {
      h.gpu = slots_[card].info.gpu;
      r.holders.push_back(h);
    }
    return r;
  }
  std::vector<gpu::CardEvent> TakeEvents() override {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(events, {});
  }
  void LetGo() {
    const std::lock_guard<std::mutex> lock(mutex);
    hangs.clear();
    let_go.notify_all();
  }

  std::vector<std::string> uuids;
  gpu::SourceStatus trouble;
  std::string driver = "550.1";
  std::map<std::string, int> handle_code;
  std::map<std::string, std::pair<gpu::Outcome, int>> answer;
  std::map<std::string, std::vector<model::CardHolder>> holders;
  std::map<std::string, int> calls;
  std::vector<gpu::CardEvent> events;
  std::set<std::string> hangs;
  std::mutex mutex;
  std::condition_variable let_go;
  int opens = 0;
  bool is_open = false;

 private:
  std::vector<CardSlot> slots_;
};

}  // namespace sawbill::collect
