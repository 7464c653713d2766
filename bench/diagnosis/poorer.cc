// SPDX-License-Identifier: Apache-2.0
#include "bench/diagnosis/poorer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::bench {
namespace {

bool Has(const std::vector<std::string>& list, std::string_view x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// Rows of the seconds that are left, cells of other columns emptied. `columns` empty: all.
std::string Thinned(const std::string& csv, int every_s, const std::vector<std::string>& columns) {
  std::string out;
  std::vector<std::string_view> heads;
  for (const std::string_view line : Split(csv, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = Split(line, ',');
    if (heads.empty()) {
      heads = cells;
    } else if (const auto t = ParseDouble(cells[0]); !t || std::llround(*t) % every_s != 0) {
      continue;
    }
    const bool head = out.empty();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += ',';
      if (head || i < 2 || columns.empty() || (i < heads.size() && Has(columns, heads[i]))) out += cells[i];
    }
    out += '\n';
  }
  return out;
}

}  // namespace

const std::vector<PoorerRecord>& PoorerRecords() {
  static const std::vector<std::string> smi = {"sm_util", "mem_util", "mem_used_mb", "power_w", "temp_c"};
  static const std::vector<PoorerRecord> records = {
      {"no host", 1, false, true, {}},
      {"no processes", 1, true, false, {}},
      {"cards only", 1, false, false, {}},
      {"nvidia-smi log", 1, false, false, smi},
      {"utilisation and memory", 1, false, false, {"sm_util", "mem_used_mb"}},
      {"utilisation", 1, false, false, {"sm_util"}},
      {"all, every 5 s", 5, true, true, {}},
      {"all, every 15 s", 15, true, true, {}},
      {"nvidia-smi log, every 60 s", 60, false, false, smi},
  };
  return records;
}

std::vector<simulator::OutFile> MakePoorer(std::vector<simulator::OutFile> files, const PoorerRecord& record) {
  std::erase_if(files, [&](const simulator::OutFile& f) {
    return (!record.host && StartsWith(f.name, "host-")) || (!record.processes && StartsWith(f.name, "process-"));
  });
  for (simulator::OutFile& f : files) {
    const bool cards = StartsWith(f.name, "gpu-");
    if (cards || StartsWith(f.name, "host-") || StartsWith(f.name, "process-"))
      f.bytes = Thinned(f.bytes, record.every_s, cards ? record.columns : std::vector<std::string>());
  }
  return files;
}

PoorerScore ScorePoorer(const simulator::Simulation& truth, const Answer& answer) {
  const simulator::Truth& t = truth.truth;
  PoorerScore s;
  s.expected = static_cast<int>(t.findings.size());
  for (const Claim& c : answer.claims) {
    const bool expected = Has(t.findings, c.id);
    const int wrong = s.on_healthy + s.wrong_cause + s.promised;
    s.named += expected ? 1 : 0;
    s.on_healthy += t.healthy ? 1 : 0;
    if (expected) {
      s.wrong_cause += !c.cause.empty() && t.findings.size() == 1 && !t.cause.empty() && c.cause != t.cause ? 1 : 0;
    } else if (!Has(t.also, c.id)) {
      s.wrong_cause += c.cause.empty() ? 0 : 1;
      s.promised += c.cause.empty() && c.saving.expected > 0 ? 1 : 0;
    }
    if (s.on_healthy + s.wrong_cause + s.promised > wrong)
      s.wrong += c.id + ":" + c.cause + " " + FormatFixed(c.saving.expected, 2) + " ";
  }
  return s;
}

}  // namespace sawbill::bench
