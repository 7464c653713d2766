// SPDX-License-Identifier: Apache-2.0
#include "app/make_source.h"

#include "gpu/http_get.h"

namespace sawbill::app {
namespace {

class First : public gpu::Source {
 public:
  explicit First(std::vector<std::unique_ptr<gpu::Source>> sources) : sources_(std::move(sources)) {}

  gpu::SourceStatus Open() override {
    open_ = nullptr;
    gpu::SourceStatus said;
    for (const auto& s : sources_) {
      const gpu::SourceStatus status = s->Open();
      if (status.ok()) {
        open_ = served_ = s.get();
        return status;
      }
      // What is wrong with the one that served before; else with the first that is there at all: who names an exporter
      // mostly does so because there is no library.
      const bool absent = said.ok() || said.trouble == gpu::Trouble::kNoLibrary;
      if (served_ == s.get() || (absent && served_ == nullptr) || said.ok()) said = status;
    }
    return said;
  }
  void Close() override {
    if (open_ != nullptr) open_->Close();
    open_ = nullptr;
  }
  const std::vector<CardSlot>& cards() const override {
    static const std::vector<CardSlot> none;
    return open_ != nullptr ? open_->cards() : none;
  }
  gpu::SourceInfo info() const override { return open_ != nullptr ? open_->info() : gpu::SourceInfo{}; }
  gpu::CardReading ReadQuick(size_t card, int64_t steady_us) override { return open_->ReadQuick(card, steady_us); }
  gpu::CardReading ReadSlow(size_t card, int64_t steady_us) override { return open_->ReadSlow(card, steady_us); }
  gpu::CardReading ReadHolders(size_t card, int64_t steady_us) override { return open_->ReadHolders(card, steady_us); }
  std::vector<gpu::CardEvent> TakeEvents() override { return open_->TakeEvents(); }

 private:
  std::vector<std::unique_ptr<gpu::Source>> sources_;
  gpu::Source* open_ = nullptr;
  gpu::Source* served_ = nullptr;  // opened last
};

}  // namespace

std::shared_ptr<gpu::Source> FirstThatOpens(std::vector<std::unique_ptr<gpu::Source>> sources) {
  return std::make_shared<First>(std::move(sources));
}

std::shared_ptr<gpu::Source> MakeCardSource(const std::string& nvml_library, const std::string& dcgm_url) {
  gpu::NvmlOptions o;
  if (!nvml_library.empty()) o.library = nvml_library;
  if (dcgm_url.empty()) return gpu::MakeNvmlSource(o);
  std::vector<std::unique_ptr<gpu::Source>> sources;
  sources.push_back(gpu::MakeNvmlSource(o));
  sources.push_back(gpu::MakeDcgmSource(gpu::MakeHttpGet(), dcgm_url));
  return FirstThatOpens(std::move(sources));
}

}  // namespace sawbill::app
