// SPDX-License-Identifier: Apache-2.0
// Every sentence that a person reads, in English and Chinese, in one table. The rows stand in messages_*.inc, a file
// for each part of the program; adding a sentence touches one row. Placeholders are fmt's, numbered ({0}, {1:.2f}) so
// that a translation may change their order. messages_test.cc checks that both columns name the same placeholders.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace sawbill {

enum class Lang { kEn, kZh };
std::optional<Lang> ParseLang(std::string_view s);
/// "zh" when LC_ALL, LC_MESSAGES or LANG (first that is set) begins with zh, else English.
Lang LangFromLocale(const char* lc_all, const char* lc_messages, const char* lang);
inline const char* LangCode(Lang l) { return l == Lang::kZh ? "zh" : "en"; }

enum class Msg {
#define M(id, en, zh) id,
#include "base/messages_all.inc"
#undef M
  kCount
};

/// The sentence itself, unformatted.
std::string_view Text(Lang lang, Msg id);
/// The row's name ("kReceiptTotal"), for tests.
std::string_view MsgName(Msg id);

template <typename... Args>
std::string Tr(Lang lang, Msg id, const Args&... args) {
  return fmt::vformat(fmt::string_view(Text(lang, id).data(), Text(lang, id).size()), fmt::make_format_args(args...));
}

}  // namespace sawbill
