// SPDX-License-Identifier: Apache-2.0
#include "app/run_cards.h"

#include "app/pipeline.h"
#include "base/text.h"
#include "host/job_identity.h"

namespace sawbill::app {

void RunCards::AttachedTo(int64_t pid) {
  const host::JobIdentity identity = host::Identify(files_.get(), pid);
  if (identity.has_visible_devices) attached_value_ = identity.visible_devices;
}

std::vector<model::CardInfo> RunCards::Of(const collect::StatusSeen& recorder) const {
  std::vector<model::CardInfo> cards;
  for (const auto& c : recorder.cards) {
    model::CardInfo info;
    info.gpu = c.gpu;
    info.uuid = c.uuid;
    info.name = c.name;
    info.node = recorder.facts.node;
    if (const auto label = settings_.labels.find(c.uuid); label != settings_.labels.end()) info.label = label->second;
    cards.push_back(std::move(info));
  }
  return cards;
}

std::vector<model::CardInfo> RunCards::Visible(const std::vector<model::CardInfo>& cards) {
  if (plan_.bill == Bill::kAll) return cards;
  std::optional<std::string> value = attached_value_;
  if (const auto it = env_->vars.find("CUDA_VISIBLE_DEVICES"); !plan_.attach && it != env_->vars.end())
    value = it->second;
  if (!value) return cards;
  visible_value_ = *value;
  std::vector<host::VisibleCard> known;
  for (const auto& c : cards) known.push_back({c.uuid, c.name});
  const host::Visible visible = host::ResolveVisible(*value, env_->Var("CUDA_DEVICE_ORDER").value_or(""), known);
  if (!visible.certain) {
    if (!std::exchange(told_, true)) Note(env_, Tr(settings_.lang, Msg::kRecVisibleUnknown, Sanitize(*value)));
    return cards;
  }
  std::vector<model::CardInfo> out;
  for (const size_t k : visible.cards) out.push_back(cards[k]);
  return out;
}

std::vector<std::string> RunCards::Used(const model::TelemetrySource& source, const std::set<int64_t>& pids) {
  std::set<std::string> uuids;
  for (size_t k = 0; k < source.pieces().size(); ++k) {
    const auto recording = source.Read(k);
    if (!recording.ok()) continue;
    for (const model::ProcessRow& r : recording->processes) {
      if (r.card >= 0 && pids.contains(r.pid)) uuids.insert(recording->gpus[static_cast<size_t>(r.card)].card.uuid);
    }
  }
  return {uuids.begin(), uuids.end()};
}

}  // namespace sawbill::app
