// SPDX-License-Identifier: Apache-2.0
// dcgm-exporter as a source: for containers that may not open the cards, and for cards whose counters only DCGM reads.
//
// The exporter collects every 30 s by default and shows the same page in between. A page that is the same, byte for
// byte, is no new sample: the time since the last one stays unmeasured rather than filled with repetitions. (Energy, on
// by default, grows with each collection, so a page that was collected anew does differ.)
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "gpu/dcgm_page.h"
#include "gpu/nvml_abi.h"
#include "gpu/source.h"
#include "prom/labels.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

double At(const model::GpuValues& v, GpuMetric m) { return v[static_cast<size_t>(m)]; }

std::optional<double> IfPresent(double v) { return IsPresent(v) ? std::optional<double>(v) : std::nullopt; }

/// Of the twelve fields that a card can have, those that the page has: the names that nobody switched on are many.
void Coverage(const model::GpuValues& v, CardReading* reading) {
  static constexpr GpuMetric kFields[] = {
      GpuMetric::kSmUtil,  GpuMetric::kSmUtilMin,  GpuMetric::kMemUsedMb,   GpuMetric::kTempC,
      GpuMetric::kPowerW,  GpuMetric::kSmClockMhz, GpuMetric::kMemClockMhz, GpuMetric::kThrottle,
      GpuMetric::kEnergyJ, GpuMetric::kSmActive,   GpuMetric::kNvlinkRxMbS, GpuMetric::kPcieRxMbS,
  };
  for (const GpuMetric m : kFields) {
    ++reading->asked;
    if (IsPresent(At(v, m))) ++reading->supported;
  }
}

class DcgmSource : public Source {
 public:
  DcgmSource(UrlFetcher fetch, std::string url) : fetch_(std::move(fetch)), url_(std::move(url)) {}

  SourceStatus Open() override {
    Close();
    const std::lock_guard<std::mutex> lock(mutex_);
    const Result<std::string> text = fetch_(url_);
    if (!text.ok()) return {Trouble::kUnreachable, 0, text.status().message()};
    DcgmPage page = ParseDcgmPage(*text);
    if (page.cards.empty()) return {Trouble::kUnreachable, 0, url_ + ": no line of DCGM's that names a card"};
    AddSlots(page);
    page_ = std::move(page);
    page_number_ = 1;
    NoteCounters(/*tell=*/false);
    return {};
  }

  void Close() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    slots_.clear();
    keys_.clear();
    read_.clear();
    counters_.clear();
    events_.clear();
    page_ = {};
  }

  const std::vector<CardSlot>& cards() const override { return slots_; }

  SourceInfo info() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    SourceInfo info;
    info.name = "dcgm-exporter";
    for (const DcgmCard& c : page_.cards) {
      if (info.driver.empty()) info.driver = c.driver;
      info.gpm = info.gpm || IsPresent(At(c.values, GpuMetric::kSmActive));
    }
    return info;
  }

  CardReading ReadQuick(size_t card, int64_t) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    CardReading reading;
    reading.outcome = Outcome::kReopen;
    if (card >= keys_.size()) return reading;
    // The first card that comes back for more fetches the page for all.
    if (read_[card].fetch == fetches_ && !Refresh()) return reading;
    read_[card].fetch = fetches_;
    reading.outcome = Outcome::kNotNew;
    if (read_[card].page == page_number_) return reading;
    read_[card].page = page_number_;
    Fill(keys_[card], &reading);
    return reading;
  }

  CardReading ReadSlow(size_t, int64_t) override { return NothingToAsk(); }
  CardReading ReadHolders(size_t, int64_t) override { return NothingToAsk(); }  // DCGM's pages name no process

  std::vector<CardEvent> TakeEvents() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  struct Read {
    uint64_t fetch = ~uint64_t{0}, page = 0;  // the last that this card was read from
  };
  struct Counters {
    double xid = kMissing, uncorrected = kMissing;
  };

  static CardReading NothingToAsk() {
    CardReading reading;
    reading.outcome = Outcome::kEmpty;
    return reading;
  }

  /// False when the exporter does not answer, or shows other cards than it did: all is to be opened anew.
  bool Refresh() {
    const Result<std::string> text = fetch_(url_);
    if (!text.ok()) return false;
    ++fetches_;
    DcgmPage page = ParseDcgmPage(*text);
    if (page.fingerprint == page_.fingerprint) return true;
    if (page.cards.empty()) return false;  // an exporter that starts, or somebody else at its address
    for (const DcgmCard& c : page.cards) {
      if (std::find(keys_.begin(), keys_.end(), c.key()) == keys_.end()) return false;
    }
    page_ = std::move(page);
    ++page_number_;
    NoteCounters(/*tell=*/true);
    return true;
  }

  const DcgmCard* Find(const std::string& key) const {
    for (const DcgmCard& c : page_.cards) {
      if (c.key() == key) return &c;
    }
    return nullptr;
  }

  void Fill(const std::string& key, CardReading* reading) const {
    const DcgmCard* card = Find(key);
    reading->outcome = Outcome::kEmpty;
    reading->code = nvml::kNoData;
    if (card == nullptr) return;
    reading->values = card->values;
    // A card with instances has a "utilisation" of 0 from some exporters: nothing is known of it.
    if (HasInstances(*card)) reading->values[static_cast<size_t>(GpuMetric::kSmUtil)] = kMissing;
    Coverage(reading->values, reading);
    if (IsPresent(At(reading->values, GpuMetric::kPowerW))) reading->power_from = "dcgm";
    if (IsPresent(At(reading->values, GpuMetric::kMemUsedMb))) reading->memory_from = "dcgm";
    if (std::all_of(reading->values.begin(), reading->values.end(), IsMissing)) return;
    reading->outcome = Outcome::kOk;
    reading->code = 0;
  }

  bool HasInstances(const DcgmCard& card) const {
    return !card.instance && std::any_of(page_.cards.begin(), page_.cards.end(), [&](const DcgmCard& c) {
      return c.instance && c.gpu == card.gpu && c.uuid == card.uuid;
    });
  }

  void AddSlots(const DcgmPage& page) {
    page_ = page;
    for (const DcgmCard& c : page.cards) {
      CardSlot slot;
      slot.info.gpu = c.gpu;
      slot.info.uuid = c.uuid;
      slot.info.name = c.name;
      slot.info.driver = c.driver;
      slot.info.power_limit_w = IfPresent(c.power_limit_w);
      const double used = At(c.values, GpuMetric::kMemUsedMb);
      slot.info.memory_total_mb = IfPresent(c.memory_total_mb);
      if (!slot.info.memory_total_mb)
        slot.info.memory_total_mb = IfPresent(used + c.memory_free_mb + Or0(c.memory_reserved_mb));
      slot.unified_memory = IsMissing(used) && IsMissing(c.memory_free_mb) && IsMissing(c.memory_total_mb);
      slot.mig_parent = HasInstances(c);
      if (c.instance) {
        slot.info.gpu = prom::InstanceLabel(c.gpu, *c.instance);
        slot.info.parent_uuid = c.uuid;
        slot.info.uuid = prom::InstanceUuid(c.uuid, *c.instance);
        slot.info.share = prom::InstanceShare(c.profile, c.name);
        slot.info.power_limit_w.reset();
        if (!c.profile.empty()) slot.info.name += " MIG " + c.profile;
      }
      slots_.push_back(std::move(slot));
      keys_.push_back(c.key());
    }
    read_.assign(keys_.size(), {});
  }

  static double Or0(double v) { return IsPresent(v) ? v : 0; }

  /// The page shows the last Xid, not how many: the same one twice cannot be told from once, and the one that stood
  /// there when we came is of a time that nobody knows.
  void NoteCounters(bool tell) {
    for (const DcgmCard& c : page_.cards) {
      Counters& last = counters_[c.key()];
      const std::string gpu = c.instance ? prom::InstanceLabel(c.gpu, *c.instance) : c.gpu;
      if (tell && IsPresent(last.xid) && c.xid > 0 && c.xid != last.xid) {
        events_.push_back({"xid", gpu, fmt::format("xid={}", static_cast<int64_t>(c.xid))});
      }
      if (tell && c.uncorrected > last.uncorrected) {  // never with NaN
        events_.push_back(
            {"ecc", gpu, fmt::format("uncorrected={}", static_cast<int64_t>(c.uncorrected - last.uncorrected))});
      }
      if (IsPresent(c.xid)) last.xid = c.xid;
      if (IsPresent(c.uncorrected)) last.uncorrected = c.uncorrected;
    }
  }

  UrlFetcher fetch_;
  std::string url_;
  mutable std::mutex mutex_;
  std::vector<CardSlot> slots_;
  std::vector<std::string> keys_;  // as the slots
  std::vector<Read> read_;         // as the slots
  DcgmPage page_;
  uint64_t fetches_ = 0, page_number_ = 0;
  std::map<std::string, Counters> counters_;
  std::vector<CardEvent> events_;
};

}  // namespace

std::unique_ptr<Source> MakeDcgmSource(UrlFetcher fetch, const std::string& url) {
  return std::make_unique<DcgmSource>(std::move(fetch), url);
}

}  // namespace sawbill::gpu
