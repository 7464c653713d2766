// SPDX-License-Identifier: Apache-2.0
// Where readings of cards come from: NVML, or dcgm-exporter where NVML cannot be had. A source knows nothing of ticks,
// files or money. Calls may block for seconds, or for ever, inside the driver: collect/ makes them from threads that
// it can give up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/messages.h"
#include "base/numbers.h"
#include "base/status.h"
#include "model/holder.h"
#include "model/metrics.h"
#include "model/recording.h"

namespace sawbill::gpu {

/// Why a source as a whole gives nothing.
enum class Trouble {
  kNone,
  kNoLibrary,     // libnvidia-ml.so.1 cannot be loaded
  kNoDriver,      // NVML 9: the kernel module is not there
  kMismatch,      // NVML 18: library and module are of different versions
  kNoPermission,  // NVML 4
  kNoCards,       // initialised, and counts no card
  kLostSight,     // every call on every card fails with the same error (a container that lost its devices)
  kUnreachable,   // dcgm-exporter does not answer
  kOther
};
const char* Name(Trouble t);  // "no_library", ... as in events

struct SourceStatus {
  Trouble trouble = Trouble::kNone;
  int code = 0;        // NVML's return code or the HTTP status, 0 = none
  std::string detail;  // as said by the loader, NVML or the server; versions where they are known
  bool ok() const { return trouble == Trouble::kNone; }
};
/// What is wrong, and what to do about it: two sentences for a person.
std::string Explain(const SourceStatus& status, Lang lang);

/// How a call on one card ended.
enum class Outcome {
  kOk,         // at least one value was read
  kEmpty,      // the card answers, but no field gave a value (`code` says why the first did not; asked 0 = none to ask)
  kLost,       // the card is gone (15, 16, 28, or 999 on every call): do not call again before Open
  kReopen,     // the library as a whole is gone (1, 9, 18), or a suspended card woke (code 0): Close, wait, Open
  kSuspended,  // runtime-suspended (D3cold): not touched; no sample, and no waste
  kNotNew,     // the source has nothing newer than the last reading (dcgm-exporter between its collections): no sample
};

struct CardReading {
  CardReading() { values.fill(kMissing); }
  Outcome outcome = Outcome::kOk;
  int code = 0;                            // NVML's code for kLost, kReopen, kEmpty
  model::GpuValues values;                 // NaN = not read
  std::vector<model::CardHolder> holders;  // ReadHolders only
  int supported = 0, asked = 0;            // fields: for coverage ("0 of 12 fields available")
  // Which reading the value is, "" = none: the same call means another thing on another driver.
  const char* power_from = "";   // "instant" (field 186), "usage" (PowerUsage: a 1 s mean on newer cards), "dcgm"
  const char* memory_from = "";  // "used" (reserved told apart), "used+reserved" (old call), "dcgm"
};

/// What happened on a card: an Xid, an ECC error, ... `detail` is "key=value" pairs of an event row.
struct CardEvent {
  std::string kind;  // "xid", "ecc", "mig_changed", "power_source"
  std::string gpu;   // "" = not told
  std::string detail;
};

struct SourceInfo {
  std::string name;                   // "nvml", "dcgm-exporter"
  std::string driver, library, cuda;  // versions, "" = not told
  bool gpm = false;                   // at least one card gives SM activity
  bool simulated = false;             // a scripted driver: recordings must say so
};

/// THREAD: Open, Close and the constructor from one thread, while no other call runs (a call that hangs for ever
/// excepted: what it uses stays alive). All other calls may run at the same time, but for the same call of the same
/// card.
class Source {
 public:
  virtual ~Source() = default;
  /// Loads, initialises and enumerates anew. After an error the source is closed. Calls again may succeed later.
  virtual SourceStatus Open() = 0;
  /// Lets go of the library and of the device files. Harmless when closed.
  virtual void Close() = 0;

  /// The cards (and MIG instances) of the last Open. A card whose handle could not be had is there as well, lost.
  /// `info` has gpu, uuid, name and what else the driver told; its `node` and `from` are left to the caller.
  struct CardSlot {
    model::CardInfo info;
    int lost_code = 0;            // != 0: NVML's reason why it cannot be read
    bool suspended = false;       // runtime-suspended laptop card (D3cold): not touched, and that is no waste
    bool mig_parent = false;      // its instances have slots of their own; not billed
    bool unified_memory = false;  // no memory of its own: memory cells stay empty
  };
  virtual const std::vector<CardSlot>& cards() const = 0;
  virtual SourceInfo info() const = 0;

  /// The quick fields, every tick. `steady_us` of CLOCK_MONOTONIC, for counters that become rates.
  virtual CardReading ReadQuick(size_t card, int64_t steady_us) = 0;
  /// Fields whose calls block (PCIe counters, about 20 ms each). Values that ReadQuick has already are NaN.
  virtual CardReading ReadSlow(size_t card, int64_t steady_us) = 0;
  /// Processes on the card, with memory and SM share since the last call.
  virtual CardReading ReadHolders(size_t card, int64_t steady_us) = 0;
  /// What happened since the last call, without waiting.
  virtual std::vector<CardEvent> TakeEvents() = 0;
};

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";  // tried first; then the un-suffixed name
  std::string proc_root;                      // in front of /proc and /sys
};
std::unique_ptr<Source> MakeNvmlSource(const NvmlOptions& options);

/// GET of a URL: the body, or why there is none (gpu/http_get.h has one).
using UrlFetcher = std::function<Result<std::string>(const std::string& url)>;
/// `url` of dcgm-exporter's page ("http://127.0.0.1:9400/metrics"). It collects every 30 s by default: until its page
/// changes, readings are kNotNew.
std::unique_ptr<Source> MakeDcgmSource(UrlFetcher fetch, const std::string& url);

}  // namespace sawbill::gpu
