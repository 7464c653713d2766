// SPDX-License-Identifier: Apache-2.0
// Blocks that the receipt and the diagnosis share.
#pragma once

#include "report/page.h"
#include "report/view.h"

namespace sawbill::report {

/// Name of the program and of the paper; says plainly when the recording is simulated.
void PrintTitle(Page* p, const View& v, Msg kind);
/// What was read, when, on which cards, how much of it was measured.
void PrintSource(Page* p, const View& v);
/// One finding. `full`: all evidence, the causal chain and all recommendations; else the key line and the next action.
void PrintFinding(Page* p, const View& v, size_t index, bool full);
/// No finding: nothing worth a change, or no verdict and why. Nothing is printed where there are findings.
void PrintVerdict(Page* p, const View& v);
/// What the record cannot tell, and how sound it is. `full`: all lines, else the first of each and a count.
void PrintLimits(Page* p, const View& v, bool full);

}  // namespace sawbill::report
