// SPDX-License-Identifier: Apache-2.0
// process-*.csv, run-*.csv and event-*.csv: rows with words in them, read one by one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/recording.h"
#include "store/day_table.h"

namespace sawbill::store {

/// Finds a column of each wanted name; -1 where the header has none.
std::vector<int> FindColumns(const std::vector<std::string_view>& names, const std::vector<std::string>& wanted);

/// Which track of the recording a card's process rows belong to.
class CardFinder {
 public:
  virtual ~CardFinder() = default;
  /// Index into Recording::gpus, or -1 when the card has no samples in the piece.
  virtual int32_t FindCard(std::string_view gpu, TimeMs t) = 0;
};

class ProcessTable : public DayTable {
 public:
  ProcessTable(TableContext context, CardFinder* cards, int32_t host, model::Recording* out)
      : DayTable(std::move(context)), cards_(cards), host_(host), out_(out) {}

 protected:
  void OnHeader(const std::vector<std::string_view>& names) override;
  void OnRow(TimeMs t, const std::vector<std::string_view>& cells) override;

 private:
  double Number(std::string_view cell, double min, double max);
  uint32_t Intern(std::string_view cell, int32_t card, size_t which);

  CardFinder* cards_;
  int32_t host_;
  model::Recording* out_;
  std::vector<int> columns_;
  /// Words of user, name and job of the last row of each card, which mostly repeat: card + 1 is the index.
  using Words = std::array<std::pair<std::string, uint32_t>, 3>;
  std::vector<Words> last_words_;
};

class RunTable : public DayTable {
 public:
  RunTable(TableContext context, std::string node, std::vector<model::RunRow>* out)
      : DayTable(std::move(context)), node_(std::move(node)), out_(out) {}

 protected:
  void OnHeader(const std::vector<std::string_view>& names) override;
  void OnRow(TimeMs t, const std::vector<std::string_view>& cells) override;

 private:
  std::string node_;
  std::vector<model::RunRow>* out_;
  std::vector<int> columns_;
};

class EventTable : public DayTable {
 public:
  EventTable(TableContext context, std::string node, std::vector<model::EventRow>* out)
      : DayTable(std::move(context)), node_(std::move(node)), out_(out) {}

 protected:
  void OnHeader(const std::vector<std::string_view>& names) override;
  void OnRow(TimeMs t, const std::vector<std::string_view>& cells) override;

 private:
  std::string node_;
  std::vector<model::EventRow>* out_;
  std::vector<int> columns_;
};

}  // namespace sawbill::store
