// SPDX-License-Identifier: Apache-2.0
// A state file as a source of values. Only the bytes that a call needs are copied out of it, again if a write came
// between.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "simulator/nvml/script.h"
#include "simulator/nvml/state.h"

namespace sawbill::nvmlsim {
namespace {

std::string Text(const char* from, size_t size) { return {from, ::strnlen(from, size)}; }

class StateSource : public Source {
 public:
  explicit StateSource(const State* state) : state_(state) {}
  StateSource(const StateSource&) = delete;
  StateSource& operator=(const StateSource&) = delete;
  ~StateSource() override { ::munmap(const_cast<State*>(state_), sizeof(State)); }
  Status ReadFacts();

  const SystemFacts& system() const override { return system_; }
  const std::vector<CardFacts>& cards() const override { return cards_; }
  double Now() const override { return Copy(&state_->time_s); }
  double StartMs() const override { return Copy(&state_->start_ms); }
  double Value(Place place, Field field, double) const override {
    return Copy(&Unit(place).value[static_cast<size_t>(field)]);
  }
  double Total(Place place, Field field, double) const override {
    return Copy(&Unit(place).total[static_cast<size_t>(field)]);
  }
  double NanSeconds(Place, Field, double) const override { return 0; }
  double Mean(Place place, Field field, double from_s, double to_s) const override;
  double ReasonSeconds(Place place, unsigned long long bits, double) const override {
    // Of several bits the longest: whether they were on at the same time is not told.
    double longest = 0;
    for (int bit = 0; bit < 16; ++bit) {
      if ((bits >> bit & 1) != 0) longest = std::max(longest, Copy(&state_->cards[place.card].reason_s[bit]));
    }
    return longest;
  }
  std::vector<ProcessNow> Processes(int card, double from_s, double to_s) const override;
  std::vector<EventNow> Events() const override;

 private:
  const UnitState& Unit(Place place) const {
    const CardState& card = state_->cards[place.card];
    return place.instance < 0 ? card.unit : card.instances[place.instance].unit;
  }
  /// A consistent copy of `*from`, which lies in the shared memory.
  template <typename T>
  T Copy(const T* from) const {
    T out;
    while (true) {
      const uint32_t before = state_->sequence.load(std::memory_order_acquire);
      std::memcpy(&out, from, sizeof(T));
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && state_->sequence.load(std::memory_order_relaxed) == before) return out;
    }
  }

  const State* state_;
  SystemFacts system_;
  std::vector<CardFacts> cards_;
};

Status StateSource::ReadFacts() {
  const std::string driver = Text(state_->driver, sizeof(state_->driver));
  if (!driver.empty()) system_.driver = driver;
  const std::string nvml = Text(state_->nvml, sizeof(state_->nvml));
  if (!nvml.empty()) system_.nvml = nvml;
  if (state_->cuda > 0) system_.cuda = state_->cuda;
  for (uint32_t i = 0; i < state_->card_count; ++i) {
    const CardState& card = state_->cards[i];
    const CardModel* model = FindModel(Text(card.model, sizeof(card.model)));
    if (model == nullptr) return Status::Invalid("card " + std::to_string(i) + " is of no model of the catalogue");
    CardFacts facts;
    FillIdentity(*model, static_cast<int>(i), &facts);
    if (card.uuid[0] != '\0') facts.uuid = Text(card.uuid, sizeof(card.uuid));
    if (card.name[0] != '\0') facts.name = Text(card.name, sizeof(card.name));
    if (card.memory_mib > 0) facts.memory_mib = card.memory_mib;
    if (card.reserved_mib > 0) facts.reserved_mib = card.reserved_mib;
    if (card.default_limit_w > 0) facts.default_limit_w = card.default_limit_w;
    facts.unified_memory = card.unified_memory != 0;
    for (uint32_t k = 0; k < std::min<uint32_t>(card.instance_count, kStateInstances); ++k) {
      const InstanceState& in = card.instances[k];
      facts.instances.push_back({in.slot, in.gpu_instance, in.compute_instance, Text(in.profile, sizeof(in.profile)),
                                 Text(in.uuid, sizeof(in.uuid)), in.memory_mib, in.slices, in.sm_count});
    }
    facts.mig = !facts.instances.empty();
    cards_.push_back(std::move(facts));
  }
  return Status::Ok();
}

/// The newest sample of the ring in (from_s, to_s], for what the ring holds; else what is now.
double StateSource::Mean(Place place, Field field, double from_s, double to_s) const {
  const bool in_ring = field == Field::kSmUtil || field == Field::kMemUtil || field == Field::kPower;
  const CardState& card = state_->cards[place.card];
  const uint32_t count = in_ring && place.instance < 0 ? Copy(&card.sample_count) : 0;
  double sum = 0, found = 0;
  for (uint32_t n = count; n > 0 && count - n < kStateSamples; --n) {
    const SampleState sample = Copy(&card.samples[(n - 1) % kStateSamples]);
    if (sample.time_s > to_s + 1e-9) continue;
    if (sample.time_s <= from_s + 1e-9 && found > 0) break;
    sum += field == Field::kSmUtil ? sample.sm_util : field == Field::kMemUtil ? sample.mem_util : sample.power_w;
    ++found;
    if (sample.time_s <= from_s + 1e-9) break;
  }
  return found > 0 ? sum / found : Value(place, field, to_s);
}

std::vector<ProcessNow> StateSource::Processes(int card, double, double) const {
  const CardState& state = state_->cards[card];
  const uint32_t count = std::min<uint32_t>(Copy(&state.process_count), kStateProcesses);
  std::vector<ProcessNow> out;
  for (uint32_t i = 0; i < count; ++i) {
    const ProcessState p = Copy(&state.processes[i]);
    if (p.pid == 0) continue;
    out.push_back({p.pid, p.type == '\0' ? 'C' : p.type, p.instance, p.mem_mib, p.sm_util, p.mem_util, p.enc_util,
                   p.dec_util, Text(p.name, sizeof(p.name))});
  }
  return out;
}

std::vector<EventNow> StateSource::Events() const {
  std::vector<EventNow> out;
  for (size_t c = 0; c < cards_.size(); ++c) {
    const CardState& card = state_->cards[c];
    const uint32_t count = Copy(&card.event_count);
    for (uint32_t n = count > kStateEvents ? count - kStateEvents : 0; n < count; ++n) {
      const EventState e = Copy(&card.events[n % kStateEvents]);
      out.push_back({e.time_s, static_cast<int>(c), e.type, e.data, -1, -1});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const EventNow& a, const EventNow& b) { return a.at_s < b.at_s; });
  return out;
}

}  // namespace

Result<std::unique_ptr<Source>> OpenState(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::Unavailable(path + ": cannot be opened: " + std::strerror(errno));
  struct stat info{};
  const bool fits = ::fstat(fd, &info) == 0 && static_cast<size_t>(info.st_size) >= sizeof(State);
  void* memory = fits ? ::mmap(nullptr, sizeof(State), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (memory == MAP_FAILED) return Status::Unavailable(path + ": is no state file of this version (too short)");
  const auto* state = static_cast<const State*>(memory);
  if (state->magic != kStateMagic || state->version != kStateVersion || state->size != sizeof(State) ||
      state->card_count > kStateCards) {
    ::munmap(memory, sizeof(State));
    return Status::Unavailable(path + ": is no state file of version " + std::to_string(kStateVersion) +
                               "; player and library must be of one build");
  }
  auto source = std::make_unique<StateSource>(state);
  const Status status = source->ReadFacts();
  if (!status.ok()) return status.At(path);
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace sawbill::nvmlsim
