// SPDX-License-Identifier: Apache-2.0
// Logs in the wrapping of what carried them: a prefix that is the same on every line (`kubectl logs --prefix`),
// docker's json-file, a JSON object a line, date and time in two columns, Grafana's legends (legends.h).
// Each is rewritten as the plain table or text that it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sawbill::ingest {

/// Nothing where `sample` (the beginning of `bytes`) is wrapped in none of these ways.
std::optional<std::string> Unwrap(std::string_view sample, std::string_view bytes);

/// "date,time,..." as "timestamp,...": nothing where the heading line has no such neighbours.
std::optional<std::string> JoinDateAndTime(std::string_view sample, std::string_view bytes);

}  // namespace sawbill::ingest
