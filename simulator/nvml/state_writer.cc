// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "simulator/nvml/state.h"

namespace sawbill::nvmlsim {
namespace {
// Everything behind the sequence is copied in one go.
constexpr size_t kCopied = offsetof(State, time_s);

Status SystemError(const std::string& path, const char* what) {
  return Status::Io(path + ": " + what + ": " + std::strerror(errno));
}
}  // namespace

Result<std::unique_ptr<StateWriter>> StateWriter::Create(const std::string& path, int cards) {
  if (cards < 0 || cards > kStateCards) return Status::Invalid("a state file has 0 to 16 cards");
  // Written beside and renamed: a reader never sees a file that is not whole.
  const std::string fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError(fresh, "cannot be created");
  if (::ftruncate(fd, sizeof(State)) != 0) {
    const Status status = SystemError(fresh, "cannot be enlarged");
    ::close(fd);
    return status;
  }
  void* memory = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return SystemError(fresh, "cannot be mapped");
  std::unique_ptr<StateWriter> writer(new StateWriter);
  writer->shared_ = new (memory) State{};
  writer->next_ = std::make_unique<State>();
  State& next = *writer->next_;
  next.card_count = static_cast<uint32_t>(cards);
  for (CardState& card : next.cards) {
    card.unit.value.fill(kMissing);
    card.unit.total.fill(kMissing);
    for (InstanceState& i : card.instances) {
      i.unit.value.fill(kMissing);
      i.unit.total.fill(kMissing);
    }
  }
  writer->shared_->magic = kStateMagic;
  writer->shared_->version = kStateVersion;
  writer->shared_->size = sizeof(State);
  writer->shared_->card_count = next.card_count;
  writer->Publish();
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return SystemError(path, "cannot be put in place");
  return writer;
}

StateWriter::~StateWriter() {
  if (shared_ != nullptr) ::munmap(shared_, sizeof(State));
}

void StateWriter::Publish() {
  const uint32_t before = shared_->sequence.load(std::memory_order_relaxed);
  shared_->sequence.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(reinterpret_cast<char*>(shared_) + kCopied, reinterpret_cast<const char*>(next_.get()) + kCopied,
              sizeof(State) - kCopied);
  shared_->sequence.store(before + 2, std::memory_order_release);
}

void StateWriter::AddSample(int card, const SampleState& sample) {
  CardState& c = next_->cards[card];
  c.samples[c.sample_count++ % kStateSamples] = sample;
}

void StateWriter::AddEvent(int card, const EventState& event) {
  CardState& c = next_->cards[card];
  c.events[c.event_count++ % kStateEvents] = event;
}

}  // namespace sawbill::nvmlsim
