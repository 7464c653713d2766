// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_source.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "gpu/nvml_session.h"

namespace sawbill::gpu {
namespace {

class NvmlSource : public Source {
 public:
  NvmlSource(NvmlOptions options, LibraryOpener open, std::shared_ptr<sys::ProcFiles> files)
      : options_(std::move(options)), open_(std::move(open)), files_(std::move(files)) {}
  ~NvmlSource() override { NvmlSource::Close(); }

  SourceStatus Open() override {
    Close();
    Result<std::unique_ptr<sys::DynamicLibrary>> library = Load();
    if (!library.ok()) return {Trouble::kNoLibrary, 0, library.status().message()};
    OpenedNvml opened = OpenNvml(std::move(library).value(), files_);
    info_ = std::move(opened.info);
    slots_ = std::move(opened.slots);
    const std::lock_guard<std::mutex> lock(mutex_);
    session_ = std::move(opened.session);
    return opened.status;
  }

  /// A call that hangs holds the session by itself: then nothing is shut down or unloaded here.
  void Close() override {
    slots_.clear();
    std::shared_ptr<NvmlSession> session;
    const std::lock_guard<std::mutex> lock(mutex_);
    session.swap(session_);
  }

  const std::vector<CardSlot>& cards() const override { return slots_; }

  SourceInfo info() const override {
    SourceInfo info = info_;
    info.name = "nvml";
    const std::shared_ptr<NvmlSession> session = Session();
    info.simulated = session != nullptr && session->api.scripted;
    info.gpm = session != nullptr &&
               std::any_of(session->cards.begin(), session->cards.end(), [](const auto& c) { return c->gpm(); });
    return info;
  }

  CardReading ReadQuick(size_t card, int64_t steady_us) override {
    return With(card, [&](NvmlSession* session, NvmlCard* c) {
      CardReading reading = c->ReadQuick(steady_us);
      NoteErrors(session, c);
      return reading;
    });
  }
  CardReading ReadSlow(size_t card, int64_t steady_us) override {
    return With(card, [&](NvmlSession*, NvmlCard* c) { return c->ReadSlow(steady_us); });
  }
  CardReading ReadHolders(size_t card, int64_t steady_us) override {
    return With(card, [&](NvmlSession*, NvmlCard* c) { return c->ReadHolders(steady_us); });
  }

  std::vector<CardEvent> TakeEvents() override {
    const std::shared_ptr<NvmlSession> session = Session();
    return session == nullptr ? std::vector<CardEvent>() : DrainEvents(session.get());
  }

 private:
  Result<std::unique_ptr<sys::DynamicLibrary>> Load() {
    Result<std::unique_ptr<sys::DynamicLibrary>> library = open_(options_.library);
    if (library.ok() || !EndsWith(options_.library, ".so.1")) return library;
    // The bare name is there only where a development package is.
    Result<std::unique_ptr<sys::DynamicLibrary>> bare = open_(options_.library.substr(0, options_.library.size() - 2));
    return bare.ok() ? std::move(bare) : std::move(library);
  }

  std::shared_ptr<NvmlSession> Session() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return session_;
  }

  /// Runs `read` on what stays alive while it runs; after it, `this` may be gone and is not touched.
  template <typename Read>
  CardReading With(size_t card, const Read& read) {
    const std::shared_ptr<NvmlSession> session = Session();
    if (session == nullptr || card >= session->cards.size()) {
      CardReading closed;
      closed.outcome = Outcome::kReopen;
      closed.code = nvml::kUninitialized;
      return closed;
    }
    return read(session.get(), session->cards[card].get());
  }

  NvmlOptions options_;
  LibraryOpener open_;
  std::shared_ptr<sys::ProcFiles> files_;
  mutable std::mutex mutex_;
  std::shared_ptr<NvmlSession> session_;  // guarded by mutex_; null = closed
  std::vector<CardSlot> slots_;
  SourceInfo info_;
};

}  // namespace

std::unique_ptr<Source> MakeNvmlSource(const NvmlOptions& options, LibraryOpener open,
                                       std::shared_ptr<sys::ProcFiles> files) {
  return std::make_unique<NvmlSource>(options, std::move(open), std::move(files));
}

std::unique_ptr<Source> MakeNvmlSource(const NvmlOptions& options) {
  return MakeNvmlSource(options, RealOpener(), sys::MakeRealProcFiles(options.proc_root));
}

}  // namespace sawbill::gpu
