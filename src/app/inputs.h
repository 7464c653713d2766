// SPDX-License-Identifier: Apache-2.0
// From what a user named (files, folders, archives, patterns, "-") to the recordings in it, one for each receipt.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/options.h"
#include "app/settings.h"
#include "model/recording.h"
#include "sys/file.h"

namespace sawbill::app {

/// Telemetry of one receipt: a folder of day files, which is read piece by piece, or a recording made of foreign files.
struct Input {
  std::string name;                             // for people
  std::string folder;                           // of day files, in `fs`; "" = `recording`
  sys::FileSystem* fs = nullptr;                // of `folder`
  int threads = 1;                              // to read it with
  std::shared_ptr<sys::FileSystem> archive;     // keeps `fs` alive where it is an archive's
  std::shared_ptr<model::Recording> recording;  // used up by OpenTelemetry
  model::GpuMetricSet unread = 0;               // readings of the folder that nobody is going to ask for
};

struct Inputs {
  std::vector<Input> inputs;
  std::vector<Status> failures;  // of paths that could not be read; the others are there nevertheless
};

/// The paths to read: those named, else the data folder.
std::vector<std::string> InputPaths(const Options& options, const Settings& settings);
/// Reads foreign files whole; which of them are one recording is told by their content (ingest/combine.h) and said on
/// stderr. Files of a folder that are no telemetry are passed over, and that is said as well. A folder's subfolders are
/// nodes.
Inputs GatherInputs(const std::vector<std::string>& paths, const Settings& settings, Environment* env);

/// A file as it stands, for --explain-format.
struct NamedFile {
  sys::FileSystem* fs = nullptr;
  std::shared_ptr<sys::FileSystem> held;  // keeps `fs` alive where it is an archive's or stdin's
  std::string path, name;
};
/// The file, or the files of a folder or archive, at most `most`.
Result<std::vector<NamedFile>> FilesOf(const std::string& path, size_t most, const Settings& settings,
                                       Environment* env);

}  // namespace sawbill::app
