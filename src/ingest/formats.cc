// SPDX-License-Identifier: Apache-2.0
// The one place that names every format.
#include "ingest/csv_formats.h"
#include "ingest/dcgmi_dmon.h"
#include "ingest/format.h"
#include "ingest/gpustat.h"
#include "ingest/nvitop_csv.h"
#include "ingest/own_rows.h"
#include "ingest/prom_formats.h"
#include "ingest/sagemaker.h"
#include "ingest/smi_monitor.h"
#include "ingest/smi_query.h"
#include "ingest/smi_table.h"
#include "ingest/wandb.h"

namespace sawbill::ingest {

const std::vector<const Format*>& AllFormats() {
  static const std::vector<const Format*> formats = {
      &GpuDayFile(),   &HostDayFile(), &ProcessDayFile(), &RunDayFile(),       &EventDayFile(),  &InventoryFile(),
      &NvidiaSmiCsv(), &ScriptLog(),   &PrometheusText(), &PrometheusJson(),   &DcgmEntityCsv(), &SmiTable(),
      &SmiQuery(),     &SmiDmon(),     &SmiPmon(),        &DcgmiDmon(),        &GpustatJson(),   &GpustatText(),
      &NvitopCsv(),    &WandbCsv(),    &WandbJson(),      &SageMakerMetrics(), &EventTimeline(),
  };
  return formats;
}

}  // namespace sawbill::ingest
