// SPDX-License-Identifier: Apache-2.0
// The command line as it was written: plain values, not yet judged. cli.cc fills it, settings.cc judges it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sawbill::app {

struct Options {
  std::string command;  // "report", "rules explain", ...; "" = none was named
  // Where from.
  std::optional<std::string> config, data, tz;
  std::vector<std::string> files;
  // What of it.
  std::optional<std::string> from, to, last;
  std::vector<std::string> gpus, jobs, users, projects, labels;
  // Money.
  std::vector<std::string> price, prices;
  std::optional<std::string> currency, min_saving, fail_on_waste;
  // How it is shown.
  std::optional<std::string> by, format, lang, output, color;
  bool ascii = false, all = false, version = false, explain_format = false;
  // Recording.
  std::optional<std::string> interval, process_interval, duration, dcgm, nvml, keep_days, budget, bill, attach, speed,
      job, project;
  std::vector<std::string> child;  // what stands behind "--": the command to run
  bool resume = false, quiet = false;
  // Of one command.
  std::string subject;               // rules explain FINDING, rules check FILE, completion SHELL
  std::vector<std::string> require;  // doctor
};

}  // namespace sawbill::app
