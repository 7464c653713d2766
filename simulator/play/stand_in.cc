// SPDX-License-Identifier: Apache-2.0
// A process that looks like a training job from outside: loader workers that compute, and a main process that, as a
// real one does, spins while it waits for the card and sleeps while it waits for a batch.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

#include "simulator/play/commands.h"
#include "simulator/play/words.h"
#include "sys/dynamic_library.h"
#include "sys/waiter.h"

namespace sawbill::simulator {
namespace {

constexpr int64_t kBeatUs = 100'000;

void Spin(int64_t until_us) {
  volatile double sink = 0;
  while (sys::SteadyNowUs() < until_us) {
    for (int i = 0; i < 1000; ++i) sink = sink + i;
  }
}

/// A loader worker: busy for `load` of each beat, until its parent is gone.
[[noreturn]] void Work(double load) {
  ::prctl(PR_SET_NAME, "pt_data_worker");  // as PyTorch names its own
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) {
    Spin(sys::SteadyNowUs() + static_cast<int64_t>(load * kBeatUs));
    ::usleep(static_cast<useconds_t>((1 - load) * kBeatUs));
  }
}

/// The utilisation of the first card, by whichever NVML the loader finds.
class FirstCard {
 public:
  FirstCard() {
    auto library = sys::OpenLibrary("libnvidia-ml.so.1");
    if (!library.ok()) return;
    library_ = std::move(*library);
    const auto init = reinterpret_cast<int (*)()>(library_->Find("nvmlInit_v2"));
    const auto handle = reinterpret_cast<int (*)(unsigned, void**)>(library_->Find("nvmlDeviceGetHandleByIndex_v2"));
    rates_ = reinterpret_cast<int (*)(void*, Rates*)>(library_->Find("nvmlDeviceGetUtilizationRates"));
    if (init == nullptr || handle == nullptr || rates_ == nullptr || init() != 0 || handle(0, &card_) != 0) {
      card_ = nullptr;
    }
  }
  bool there() const { return card_ != nullptr; }
  /// 0 to 1; nothing when it cannot be read.
  std::optional<double> Busy() {
    Rates rates{};
    if (card_ == nullptr || rates_(card_, &rates) != 0) return std::nullopt;
    return rates.gpu / 100.0;
  }

 private:
  struct Rates {
    unsigned gpu, memory;
  };
  std::unique_ptr<sys::DynamicLibrary> library_;
  int (*rates_)(void*, Rates*) = nullptr;
  void* card_ = nullptr;
};

}  // namespace

int StandInCommand(const std::vector<std::string>& args) {
  const Words w = SortWords(args, {"--workers", "--load", "--main", "--seconds", "--pid-file"});
  if (!w.wrong.empty() || !w.words.empty()) return Fail(w.wrong.empty() ? w.words[0] + ": unknown" : w.wrong);
  const double workers = NumberOr(w, "--workers", 2), load = NumberOr(w, "--load", 0.9),
               seconds = NumberOr(w, "--seconds", 60);
  const bool follows = w.flags.contains("--main") && w.flags.at("--main") == "follow";
  const double main_load = follows ? 0 : NumberOr(w, "--main", 0);
  if (workers < 0 || workers > 256 || load < 0 || load > 1 || main_load < 0 || main_load > 1 || seconds < 0)
    return Fail("stand-in: a value is out of range");
  for (int k = 0; k < static_cast<int>(workers); ++k) {
    if (::fork() == 0) Work(load);
  }
  std::optional<FirstCard> card;
  if (follows) card.emplace();
  if (follows && !card->there()) return Fail("stand-in: --main follow: no card by NVML");
  const std::string pid_file = w.flags.contains("--pid-file") ? w.flags.at("--pid-file") : std::string();
  if (!pid_file.empty()) std::ofstream(pid_file) << ::getpid() << "\n";
  sys::Waiter waiter({SIGTERM, SIGINT});
  const int64_t end_us = sys::SteadyNowUs() + static_cast<int64_t>(seconds * 1e6);
  sys::Waiter::Event event;
  for (int64_t next_us = sys::SteadyNowUs(); next_us < end_us && event.woke == sys::Waiter::Woke::kTime;) {
    const double busy = follows ? card->Busy().value_or(0) : main_load;
    // Nothing to spin for: one sleep is enough.
    next_us = follows || main_load > 0 ? std::min(next_us + kBeatUs, end_us) : end_us;
    Spin(std::min(next_us, sys::SteadyNowUs() + static_cast<int64_t>(busy * kBeatUs)));
    event = waiter.Wait(next_us);
  }
  if (!pid_file.empty()) ::unlink(pid_file.c_str());
  return event.woke == sys::Waiter::Woke::kSignal ? 128 + event.signal : 0;
}

}  // namespace sawbill::simulator
