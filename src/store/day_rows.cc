// SPDX-License-Identifier: Apache-2.0
#include "store/day_rows.h"

#include "model/metrics.h"

namespace sawbill::store {

std::string FormatThrottle(unsigned mask) {
  std::string out;
  for (unsigned i = 0; i < static_cast<unsigned>(model::ThrottleBit::kCount); ++i) {
    if ((mask >> i & 1U) == 0) continue;
    if (!out.empty()) out += '|';
    out += model::Name(static_cast<model::ThrottleBit>(i));
  }
  return out.empty() ? "none" : out;
}

void MakeGpuRow(std::string_view gpu, const GpuValues& values, RowText* row) {
  row->Clear();
  row->AddText(gpu);
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    const auto metric = static_cast<model::GpuMetric>(m);
    if (metric == model::GpuMetric::kThrottle && IsPresent(values[m])) {
      row->AddText(FormatThrottle(static_cast<unsigned>(values[m])));
    } else {
      row->AddNumber(values[m], model::Info(metric).decimals);
    }
  }
}

void MakeHostRow(const HostValues& values, RowText* row) {
  row->Clear();
  for (size_t m = 0; m < model::kHostMetrics; ++m) {
    row->AddNumber(values[m], model::Info(static_cast<model::HostMetric>(m)).decimals);
  }
}

void MakeProcessRow(const ProcessSample& sample, RowText* row) {
  row->Clear();
  row->AddText(sample.gpu);
  row->AddInt(sample.pid);
  row->AddText(sample.user);
  row->AddText(sample.name);
  row->AddText(sample.job);
  for (size_t m = 0; m < model::kProcessMetrics; ++m) {
    row->AddNumber(sample.values[m], model::Info(static_cast<model::ProcessMetric>(m)).decimals);
  }
}

void MakeRunRow(const model::RunRow& run, RowText* row) {
  row->Clear();
  for (const std::string* cell : {&run.run, &run.job, &run.user, &run.project, &run.node, &run.gpus, &run.state,
                                  &run.exit_status, &run.program, &run.batch_size, &run.precision, &run.seq_len,
                                  &run.num_workers, &run.prefetch_factor, &run.ckpt_every, &run.git_sha}) {
    row->AddText(*cell);
  }
}

void MakeEventRow(std::string_view kind, std::string_view gpu, std::string_view detail, RowText* row) {
  row->Clear();
  row->AddText(kind);
  row->AddText(gpu);
  row->AddText(detail);
}

}  // namespace sawbill::store
