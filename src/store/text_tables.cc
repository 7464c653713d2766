// SPDX-License-Identifier: Apache-2.0
#include "store/text_tables.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "store/day_kinds.h"

namespace sawbill::store {
namespace {
using model::Odd;

std::string_view Cell(const std::vector<std::string_view>& cells, int column) {
  return column < 0 ? std::string_view() : Trim(cells[static_cast<size_t>(column)]);
}

bool Known(DayKind kind, std::string_view name) {
  const std::vector<std::string>& all = Columns(kind);
  return std::find(all.begin(), all.end(), name) != all.end();
}

// Cells of a run row in the order of its columns, after the timestamp.
constexpr std::string model::RunRow::* kRunCells[] = {&model::RunRow::run,         &model::RunRow::job,
                                                      &model::RunRow::user,        &model::RunRow::project,
                                                      &model::RunRow::node,        &model::RunRow::gpus,
                                                      &model::RunRow::state,       &model::RunRow::exit_status,
                                                      &model::RunRow::program,     &model::RunRow::batch_size,
                                                      &model::RunRow::precision,   &model::RunRow::seq_len,
                                                      &model::RunRow::num_workers, &model::RunRow::prefetch_factor,
                                                      &model::RunRow::ckpt_every,  &model::RunRow::git_sha};

enum ProcessColumn : size_t { kTime, kGpu, kPid, kUser, kProcessName, kJob, kFirstMetric };
}  // namespace

std::vector<int> FindColumns(const std::vector<std::string_view>& names, const std::vector<std::string>& wanted) {
  std::vector<int> out;
  for (const std::string& name : wanted) {
    const auto it = std::find(names.begin(), names.end(), name);
    out.push_back(it == names.end() ? -1 : static_cast<int>(it - names.begin()));
  }
  return out;
}

void ProcessTable::OnHeader(const std::vector<std::string_view>& names) {
  columns_ = FindColumns(names, Columns(DayKind::kProcess));
  for (const std::string_view name : names) {
    if (!Known(DayKind::kProcess, name)) CountUnknownColumn(name);
  }
}

double ProcessTable::Number(std::string_view cell, double min, double max) {
  if (cell.empty()) return kMissing;
  double plain = 0;
  const char* p = cell.data();
  const bool is_plain = TakeDecimal(&p, p + cell.size(), &plain) && p == cell.data() + cell.size();
  const std::optional<double> v = is_plain ? plain : ParseDouble(cell);
  if (!v) {
    CountOddRow(Odd::kBadCell);
    return kMissing;
  }
  if (*v < min || *v > max) {
    CountOddRow(Odd::kOutOfRange);
    return kMissing;
  }
  return *v;
}

uint32_t ProcessTable::Intern(std::string_view cell, int32_t card, size_t which) {
  const auto at = static_cast<size_t>(card + 1);
  if (at >= last_words_.size()) last_words_.resize(at + 1);
  auto& [word, id] = last_words_[at][which];
  if (cell != word) {
    word = std::string(cell);
    id = out_->strings.Intern(cell);
  }
  return id;
}

void ProcessTable::OnRow(TimeMs t, const std::vector<std::string_view>& cells) {
  if (!window().Holds(t)) return;
  model::ProcessRow row;
  row.t_ms = t;
  row.host = host_;
  const std::optional<int64_t> pid = ParseInt(Cell(cells, columns_[kPid]));
  if (!pid || *pid < 0) return CountOddRow(Odd::kBadRow);
  row.pid = *pid;
  if (const std::string_view gpu = Cell(cells, columns_[kGpu]); !gpu.empty()) {
    row.card = cards_->FindCard(gpu, t);
    if (row.card < 0) return CountOddRow(Odd::kProcessWithoutCard);
  }
  row.user = Intern(Cell(cells, columns_[kUser]), row.card, 0);
  row.name = Intern(Cell(cells, columns_[kProcessName]), row.card, 1);
  row.job = Intern(Cell(cells, columns_[kJob]), row.card, 2);
  row.values.fill(static_cast<float>(kMissing));
  for (size_t m = 0; m < model::kProcessMetrics; ++m) {
    const auto metric = static_cast<model::ProcessMetric>(m);
    const model::MetricInfo& info = model::Info(metric);
    const double v = Number(Cell(cells, columns_[kFirstMetric + m]), info.min, info.max);
    if (metric == model::ProcessMetric::kStarted) {
      row.started_s = v;
    } else {
      row.values[m] = static_cast<float>(v);
    }
  }
  out_->processes.push_back(row);
}

void RunTable::OnHeader(const std::vector<std::string_view>& names) {
  columns_ = FindColumns(names, Columns(DayKind::kRun));
  for (const std::string_view name : names) {
    if (!Known(DayKind::kRun, name)) CountUnknownColumn(name);
  }
}

void RunTable::OnRow(TimeMs t, const std::vector<std::string_view>& cells) {
  model::RunRow row;
  row.t_ms = t;
  for (size_t i = 0; i < std::size(kRunCells); ++i) row.*kRunCells[i] = std::string(Cell(cells, columns_[i + 1]));
  if (row.run.empty()) return CountOddRow(Odd::kBadRow);
  if (row.node.empty()) row.node = node_;
  out_->push_back(std::move(row));
}

void EventTable::OnHeader(const std::vector<std::string_view>& names) {
  columns_ = FindColumns(names, Columns(DayKind::kEvent));
  for (const std::string_view name : names) {
    if (!Known(DayKind::kEvent, name)) CountUnknownColumn(name);
  }
}

void EventTable::OnRow(TimeMs t, const std::vector<std::string_view>& cells) {
  model::EventRow row;
  row.t_ms = t;
  row.node = node_;
  row.kind = std::string(Cell(cells, columns_[1]));
  row.gpu = std::string(Cell(cells, columns_[2]));
  row.detail = std::string(Cell(cells, columns_[3]));
  if (row.kind.empty()) return CountOddRow(Odd::kBadRow);
  out_->push_back(std::move(row));
}

}  // namespace sawbill::store
