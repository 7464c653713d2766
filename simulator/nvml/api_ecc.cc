// SPDX-License-Identifier: Apache-2.0
// Errors of memory, remapped rows, retired pages. GeForce cards have none of these.
#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Field;
using nvmlsim::Give;
using nvmlsim::OnCard;
using nvmlsim::View;

template <typename Body>
Return WithEcc(const char* name, Device device, Body body) {
  return OnCard(name, device, [&](const View& v) { return v.facts().ecc ? body(v) : kNotSupported; });
}

double Errors(const View& v, int error_type) {
  return v.Now(error_type == kErrorCorrected ? Field::kEccCorrected : Field::kEccUncorrected);
}

bool Valid(int error_type, int counter_type) {
  return error_type >= 0 && error_type <= 1 && counter_type >= 0 && counter_type <= 1;
}

Return RetiredPages(const char* name, Device device, int cause, u32* count, u64* addresses, u64* stamps) {
  return WithEcc(name, device, [&](const View& v) {
    if (v.model().architecture >= kArchAmpere) return kNotSupported;  // these remap rows
    if (count == nullptr || cause < 0 || cause > 1) return kInvalidArgument;
    const double pages = v.Now(cause == 0 ? Field::kRetiredSbe : Field::kRetiredDbe);
    const u32 room = addresses != nullptr ? *count : 0;
    *count = static_cast<u32>(pages > 0 ? pages : 0);
    if (*count > room) return kInsufficientSize;
    for (u32 i = 0; i < *count; ++i) {
      addresses[i] = 0x10000ull + i;
      if (stamps != nullptr) stamps[i] = 0;
    }
    return kSuccess;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetEccMode(Device device, int* current, int* pending) {
  return WithEcc(__func__, device, [&](const View&) {
    if (current == nullptr || pending == nullptr) return kInvalidArgument;
    *current = *pending = kEnabled;
    return kSuccess;
  });
}
Return nvmlDeviceGetDefaultEccMode(Device device, int* mode) {
  return WithEcc(__func__, device, [&](const View&) { return Give(kEnabled, mode); });
}
Return nvmlDeviceGetTotalEccErrors(Device device, int error_type, int counter_type, u64* count) {
  return nvmlsim::OnPlace(__func__, device, [&](const View& v) {  // of instances too
    if (!v.facts().ecc) return kNotSupported;
    return Valid(error_type, counter_type) ? Give(Errors(v, error_type), count) : kInvalidArgument;
  });
}
Return nvmlDeviceGetDetailedEccErrors(Device device, int error_type, int counter_type, EccErrorCounts* counts) {
  return WithEcc(__func__, device, [&](const View& v) {
    if (counts == nullptr || !Valid(error_type, counter_type)) return kInvalidArgument;
    *counts = {};
    return Give(Errors(v, error_type), &counts->deviceMemory);
  });
}
Return nvmlDeviceGetMemoryErrorCounter(Device device, int error_type, int counter_type, int location, u64* count) {
  return WithEcc(__func__, device, [&](const View& v) {
    if (!Valid(error_type, counter_type) || location < 0 || location > kLocationSram) return kInvalidArgument;
    if (location != kLocationDram && location != kLocationSram) return kNotSupported;
    return Give(location == kLocationDram ? Errors(v, error_type) : 0, count);
  });
}
Return nvmlDeviceGetRemappedRows(Device device, u32* corrected, u32* uncorrected, u32* pending, u32* failed) {
  return WithEcc(__func__, device, [&](const View& v) {
    if (corrected == nullptr || uncorrected == nullptr || pending == nullptr) return kInvalidArgument;
    if (v.model().architecture < kArchAmpere || v.facts().mig) return kNotSupported;
    Give(v.Now(Field::kRemappedCorrected), corrected);
    Give(v.Now(Field::kRemappedUncorrected), uncorrected);
    Give(v.Now(Field::kRemapPending), pending);
    return Give(v.Now(Field::kRemapFailed), failed);
  });
}
Return nvmlDeviceGetRetiredPages(Device device, int cause, u32* count, u64* addresses) {
  return RetiredPages(__func__, device, cause, count, addresses, nullptr);
}
Return nvmlDeviceGetRetiredPages_v2(Device device, int cause, u32* count, u64* addresses, u64* stamps) {
  return RetiredPages(__func__, device, cause, count, addresses, stamps);
}
Return nvmlDeviceGetRetiredPagesPendingStatus(Device device, int* pending) {
  return WithEcc(__func__, device, [&](const View& v) {
    return v.model().architecture >= kArchAmpere ? kNotSupported : Give(kDisabled, pending);
  });
}

}  // extern "C"
}  // namespace sawbill::nvml
