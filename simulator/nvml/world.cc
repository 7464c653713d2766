// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/world.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "simulator/nvml/environment.h"

namespace sawbill::nvmlsim {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

// The stamps of a clock that is fixed: the same in every run.
constexpr double kFixedStartMs = 1.7e12;

double WallMs() {
  return static_cast<double>(
             std::chrono::duration_cast<std::chrono::microseconds>(system_clock::now().time_since_epoch()).count()) /
         1000;
}

double NumberFromEnvironment(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  return ParseDouble(text).value_or(otherwise);
}

/// Calls that Jetson boards answer although they "support nothing" (intelligence-per-watt #40). A pattern of "*" spares
/// them, a name does not.
constexpr std::string_view kIdentity[] = {
    "nvmlDeviceGetName",        "nvmlDeviceGetUUID",      "nvmlDeviceGetIndex",         "nvmlDeviceGetPciInfo*",
    "nvmlDeviceGetMinorNumber", "nvmlDeviceGetHandleBy*", "nvmlDeviceIsMigDeviceHandle"};

}  // namespace

double View::LastWindow(Field field, double window_s) const {
  const double end_s = std::floor(t_s_ / window_s + 1e-9) * window_s;
  return Mean(field, std::max(end_s - window_s, 0.0), end_s);
}

double View::Counter(Field field) const {
  double total = source_.Total(place_, field, t_s_);
  if (facts().counters_reset_at_s >= 0 && t_s_ >= facts().counters_reset_at_s) {
    total -= source_.Total(place_, field, facts().counters_reset_at_s);
  }
  return Wild(total);
}

nvml::Return GiveText(const std::string& text, char* out, nvml::u32 length) {
  if (out == nullptr) return nvml::kInvalidArgument;
  if (text.empty()) return nvml::kNotSupported;
  if (length < text.size() + 1) return nvml::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return nvml::kSuccess;
}

World& World::Get() {
  // Never destroyed: threads that hang in a call may outlive main.
  static World* world = new World;
  return *world;
}

void World::StartClock() {
  fixed_ = false;
  speed_ = NumberFromEnvironment("SAWBILL_SIM_SPEED", 1);
  start_ms_ = NumberFromEnvironment("SAWBILL_SIM_START_MS", WallMs());
}

double World::Now() {
  if (fixed_) return fixed_s_;
  const double played_s = source != nullptr ? source->Now() : kMissing;
  return IsPresent(played_s) ? played_s : (WallMs() - start_ms_) / 1000 * speed_;
}

double World::TimeUs(double t_s) {
  const double played_ms = source != nullptr ? source->StartMs() : kMissing;
  const double start_ms = fixed_ ? kFixedStartMs : IsPresent(played_ms) ? played_ms : start_ms_;
  return start_ms * 1000 + t_s * 1e6;
}

void World::SetSource(std::shared_ptr<const Source> fresh, std::vector<Fault> fresh_faults) {
  source = std::move(fresh);
  faults = std::move(fresh_faults);
  users = 0;
  ++epoch_;
  calls_.clear();
  LeaveSession();
  StartClock();
  changed.notify_all();
}

Status World::Load(std::string_view text) {
  Result<Script> parsed = ParseScript(text, "script");
  if (!parsed.ok()) return parsed.status();
  auto script = std::make_shared<const Script>(std::move(parsed).value());
  const std::scoped_lock lock(mutex);
  incomplete_ = false;
  SetSource(MakeScriptSource(script), script->faults);
  return Status::Ok();
}

void World::Reset() {
  const std::scoped_lock lock(mutex);
  said_.clear();
  SetSource(nullptr, {});
}

void World::FixTime(double t_s) {
  const std::scoped_lock lock(mutex);
  fixed_ = true;
  fixed_s_ = t_s;
  changed.notify_all();
}

void World::EnsureLoaded() {
  if (source != nullptr) return;
  const bool was_fixed = fixed_;
  const double fixed_s = fixed_s_;
  Setup setup = SetupFromEnvironment();
  incomplete_ = !setup.problem.empty();
  if (incomplete_ && setup.problem != said_) {
    // Nobody else can say it: the program that loaded us knows of no script. It sees a driver that is not there.
    std::fprintf(stderr, "libnvidia-ml (simulated): %s\n", setup.problem.c_str());
    said_ = setup.problem;
  }
  SetSource(std::move(setup.source), std::move(setup.faults));
  fixed_ = was_fixed;
  fixed_s_ = fixed_s;
}

void World::TryAgain() {
  if (!incomplete_ || users > 0) return;
  source = nullptr;
  EnsureLoaded();
}

void World::LeaveSession() {
  order.clear();
  event_sets.clear();
  gpm_samples.clear();
}

void World::Enumerate() {
  const double t = Now();
  session_from_s = t;
  ++session;
  order.clear();
  const int count = static_cast<int>(source->cards().size());
  std::map<int, int> returned;  // index -> card
  for (int card = 0; card < count; ++card) {
    bool away = false;
    for (const Fault& f : faults) {
      if (f.kind != FaultKind::kLost || f.card != card) continue;
      if (f.At(t) && !f.counted) away = true;
      if (t >= f.until_s && f.return_index >= 0) returned[f.return_index] = card;
    }
    if (!away) order.push_back(card);
  }
  for (const auto& [index, card] : returned) {
    const auto at = std::find(order.begin(), order.end(), card);
    if (at == order.end()) continue;
    order.erase(at);
    order.insert(order.begin() + std::min<ptrdiff_t>(index, static_cast<ptrdiff_t>(order.size())), card);
  }
}

// A handle is a number that looks like a pointer and is never followed: session, card and instance, shuffled.
constexpr uintptr_t kHandleBase = 0x7E50'0000'0000'0000u, kHandleShuffle = 0x0000'5A17'3C00'0000u;

nvml::Device World::HandleOf(Place place) const {
  const uintptr_t bits =
      (uintptr_t{session} << 16 | static_cast<uintptr_t>(place.card) << 8 | static_cast<uintptr_t>(place.instance + 1));
  return reinterpret_cast<nvml::Device>(kHandleBase | ((bits << 4) ^ kHandleShuffle));
}

bool World::PlaceOf(nvml::Device device, Place* place) const {
  const auto value = reinterpret_cast<uintptr_t>(device);
  if (device == nullptr || (value & 0xFFFF'0000'0000'0000u) != kHandleBase || value % 16 != 0) return false;
  const uintptr_t bits = ((value & ~kHandleBase) ^ kHandleShuffle) >> 4;
  place->card = static_cast<int>(bits >> 8 & 0xff);
  place->instance = static_cast<int>(bits & 0xff) - 1;
  if (bits >> 16 != session || source == nullptr) return false;
  const auto& cards = source->cards();
  return place->card < static_cast<int>(cards.size()) &&
         place->instance < static_cast<int>(cards[static_cast<size_t>(place->card)].instances.size());
}

const Fault* World::Lost(int card, double t_s) const {
  for (const Fault& f : faults) {
    if (f.kind != FaultKind::kLost || f.card != card || t_s < f.at_s) continue;
    if (t_s < f.until_s || session_from_s < f.at_s) return &f;
    if (session_from_s < f.until_s && !f.counted) return &f;  // away when this session counted
  }
  return nullptr;
}

const Fault* World::FaultOf(FaultKind kind, const std::string& call, int card, double t_s) const {
  for (const Fault& f : faults) {
    if (f.kind == kind && f.At(t_s) && (f.card < 0 || f.card == card) && GlobMatch(f.call, call)) return &f;
  }
  return nullptr;
}

void World::Count(const char* function, int card) { ++calls_[function][card]; }

long World::Calls(const char* function, int card) {
  const std::scoped_lock lock(mutex);
  long sum = 0;
  for (const auto& [of, count] : calls_[function]) {
    if (card < 0 || of == card) sum += count;
  }
  return sum;
}

void World::Hang(const Fault& fault, std::unique_lock<std::mutex>& lock) {
  const double until_s = fault.until_s;
  const unsigned from = epoch_;
  while (epoch_ == from && Now() < until_s) {
    // The clock of a state file and the wall clock move without telling.
    changed.wait_for(lock, std::chrono::milliseconds(20));
  }
}

void World::Spend(double ms, std::unique_lock<std::mutex>& lock) {
  if (fixed_ || ms <= 0) return;
  const unsigned from = epoch_;
  const auto until = steady_clock::now() + std::chrono::microseconds(static_cast<long>(ms * 1000));
  while (epoch_ == from && changed.wait_until(lock, until) != std::cv_status::timeout) {
  }
}

namespace {

bool IsIdentity(const std::string& call) {
  return std::any_of(std::begin(kIdentity), std::end(kIdentity),
                     [&](std::string_view identity) { return GlobMatch(identity, call); });
}

bool Unsupported(const CardFacts& facts, const std::string& call) {
  return std::any_of(facts.unsupported.begin(), facts.unsupported.end(), [&](const std::string& pattern) {
    return pattern == "*" ? !IsIdentity(call) : GlobMatch(pattern, call);
  });
}

}  // namespace

bool View::Supports(const std::string& call) const { return !Unsupported(facts(), call); }

int Before(World& world, std::unique_lock<std::mutex>& lock, const char* name, int card, bool* wild) {
  world.Count(name, card);
  const std::string call = name;
  if (world.FaultOf(FaultKind::kMissing, call, card, world.Now()) != nullptr) return nvml::kFunctionNotFound;
  if (world.users == 0) return nvml::kUninitialized;
  const unsigned session = world.session;
  if (const Fault* f = world.FaultOf(FaultKind::kSlow, call, card, world.Now())) world.Spend(f->slow_ms, lock);
  if (const Fault* f = world.FaultOf(FaultKind::kHang, call, card, world.Now())) {
    const Fault hang = *f;  // another script may be loaded meanwhile
    world.Hang(hang, lock);
    world.EnsureLoaded();
  }
  if (world.users == 0 || world.session != session) return nvml::kUninitialized;
  const double t = world.Now();
  if (const Fault* f = world.FaultOf(FaultKind::kDriver, call, -1, t)) return f->code;
  if (const Fault* f = card >= 0 ? world.Lost(card, t) : nullptr) return f->code;
  if (const Fault* f = world.FaultOf(FaultKind::kCode, call, card, t)) return f->code;
  if (card >= 0 && Unsupported(world.source->cards()[static_cast<size_t>(card)], call)) return nvml::kNotSupported;
  const Fault* garbage = world.FaultOf(FaultKind::kGarbage, call, card, t);
  if (const Fault* f = garbage; f != nullptr && !(f->call == "*" && IsIdentity(call))) {
    if (!f->wild) return nvml::kSuccess;  // says that it succeeded, and wrote nothing
    *wild = true;
  }
  return -1;
}

}  // namespace sawbill::nvmlsim
