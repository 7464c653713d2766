// SPDX-License-Identifier: Apache-2.0
#include "gpu/source.h"

#include <iterator>

namespace sawbill::gpu {
namespace {

struct Row {
  Trouble trouble;
  const char* name;  // as in events; never translated
  Msg wrong, todo;
};
constexpr Row kRows[] = {
    {Trouble::kNone, "none", Msg::kGpuNone, Msg::kGpuNone},
    {Trouble::kNoLibrary, "no_library", Msg::kGpuNoLibrary, Msg::kGpuNoLibraryDo},
    {Trouble::kNoDriver, "no_driver", Msg::kGpuNoDriver, Msg::kGpuNoDriverDo},
    {Trouble::kMismatch, "mismatch", Msg::kGpuMismatch, Msg::kGpuMismatchDo},
    {Trouble::kNoPermission, "no_permission", Msg::kGpuNoPermission, Msg::kGpuNoPermissionDo},
    {Trouble::kNoCards, "no_cards", Msg::kGpuNoCards, Msg::kGpuNoCardsDo},
    {Trouble::kLostSight, "lost_sight", Msg::kGpuLostSight, Msg::kGpuLostSightDo},
    {Trouble::kUnreachable, "unreachable", Msg::kGpuUnreachable, Msg::kGpuUnreachableDo},
    {Trouble::kOther, "other", Msg::kGpuOther, Msg::kGpuOtherDo},
};

const Row& RowOf(Trouble t) {
  const auto i = static_cast<size_t>(t);
  return kRows[i < std::size(kRows) ? i : std::size(kRows) - 1];
}

/// What was said, with NVML's number where there is one; that of HTTP stands in the detail.
std::string Said(const SourceStatus& status, Lang lang) {
  if (status.trouble == Trouble::kUnreachable || status.code == 0) {
    return status.detail.empty() ? std::string(Text(lang, Msg::kGpuSaidNothing)) : status.detail;
  }
  return Tr(lang, Msg::kGpuSaidCode, status.code, status.detail);
}

}  // namespace

const char* Name(Trouble t) { return RowOf(t).name; }

std::string Explain(const SourceStatus& status, Lang lang) {
  const Row& row = RowOf(status.trouble);
  if (status.ok()) return Tr(lang, row.wrong);
  return Tr(lang, row.wrong, Said(status, lang)) + (lang == Lang::kZh ? "" : " ") + Tr(lang, row.todo);
}

}  // namespace sawbill::gpu
