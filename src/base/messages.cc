// SPDX-License-Identifier: Apache-2.0
#include "base/messages.h"

#include <array>

namespace sawbill {
namespace {
struct Row {
  std::string_view name, en, zh;
};
constexpr Row kRows[] = {
#define M(id, en, zh) {#id, en, zh},
#include "base/messages_all.inc"
#undef M
    {"kCount", "", ""},
};
}  // namespace

std::optional<Lang> ParseLang(std::string_view s) {
  if (s == "en") return Lang::kEn;
  if (s == "zh") return Lang::kZh;
  return std::nullopt;
}

Lang LangFromLocale(const char* lc_all, const char* lc_messages, const char* lang) {
  for (const char* v : {lc_all, lc_messages, lang}) {
    if (v != nullptr && *v != '\0') return std::string_view(v).substr(0, 2) == "zh" ? Lang::kZh : Lang::kEn;
  }
  return Lang::kEn;
}

std::string_view Text(Lang lang, Msg id) {
  const Row& r = kRows[static_cast<size_t>(id)];
  return lang == Lang::kZh ? r.zh : r.en;
}

std::string_view MsgName(Msg id) { return kRows[static_cast<size_t>(id)].name; }

}  // namespace sawbill
