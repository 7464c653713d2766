// SPDX-License-Identifier: Apache-2.0
// From a table to a recording: one unit for each column, what is possible kept and the rest left empty, rows put to
// cards, time in order.
#pragma once

#include "ingest/format.h"
#include "ingest/table.h"

namespace sawbill::ingest {

/// What the table's columns and times were taken for; all but how rows came to cards.
void ExplainTable(const Table& table, const ReadContext& context, Explanation* explanation);
/// Card samples. `own` = a day file of ours, whose units are known. `table` is used up.
Status AssembleCards(Table* table, const ReadContext& context, bool own, model::Recording* out,
                     Explanation* explanation);
/// What `to` does not know of the card yet, from `from`.
void AddFacts(const model::CardInfo& from, model::CardInfo* to);
/// Leaves out samples without a single reading (nothing was measured there), and of near pairs (a card logged or
/// scraped twice, at another phase) the later one, and counts what is odd about a finished track: those, a single
/// sample, holes. A note says where its sampling interval changes on the way.
void Finish(const ReadContext& context, model::GpuTrack* track, model::Recording* out);
/// A host day file: one node.
Status AssembleHost(Table* table, const ReadContext& context, model::Recording* out);
/// A process day file: cards without samples of their own, and rows on them.
Status AssembleProcesses(Table* table, const ReadContext& context, model::Recording* out);

}  // namespace sawbill::ingest
