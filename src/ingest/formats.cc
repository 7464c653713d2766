// SPDX-License-Identifier: Apache-2.0
// The one place that names every format.
#include "ingest/csv_formats.h"
#include "ingest/format.h"

namespace sawbill::ingest {

const std::vector<const Format*>& AllFormats() {
  static const std::vector<const Format*> formats = {
      &GpuDayFile(), &HostDayFile(), &ProcessDayFile(), &NvidiaSmiCsv(), &ScriptLog(),
  };
  return formats;
}

}  // namespace sawbill::ingest
