// SPDX-License-Identifier: MIT
// Reads and writes results files on the engine's machine, in an engine process: a damaged file that
// crashes the reader ends that process, not this one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "data/sweep/sample_view.h"
#include "probes/client/engine_link.h"
#include "probes/client/sent_files.h"

namespace midscope {

// A results file on the engine's machine that is read one sample at a time
// (data/sweep/sample_view.h). Thread-safe.
class RemoteSampleView {
 public:
  // Throws Error if the file cannot be read.
  RemoteSampleView(std::shared_ptr<EngineLink> link, const std::string& path);

  const Axis& samples() const { return choices_.axes.at(0); }
  const Axis& settings() const { return choices_.axes.at(1); }
  const Axis& places() const { return choices_.axes.at(2); }
  // Returns the file's content without the records of single samples that Read() returns.
  const RunFile& overview() const { return overview_; }
  // Returns the records of one sample. Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  const std::shared_ptr<EngineLink> link_;
  const std::string path_;
  RunFile overview_;
  Record choices_;  // with the axes sample, setting and place
};

// Curves of the outcome over each parameter that varies in the files.
struct FileCurves {
  std::vector<std::string> parameters;
  std::vector<Record> curves;  // record outcome_curves, one per parameter
  int64_t files = 0;
};

class ResultFiles {
 public:
  explicit ResultFiles(std::shared_ptr<EngineLink> link)
      : link_(std::move(link)), sent_(std::make_shared<SentFiles>(*link_)) {}

  // Reads a file as ReadForViewing (sample_view.h) does. If the engine is on another machine,
  // Read() and Curves() send it files of this machine (sent_files.h), but not folders.
  RunFile Read(const std::string& path) const;
  // Reads a file, as Read() does, that a command has written on the engine's machine.
  RunFile ReadWritten(const std::string& path) const;
  std::shared_ptr<const RemoteSampleView> View(const std::string& path) const;
  // Returns curves over files of sweeps or probes and over folders of such files; see
  // probes/sweep/outcome_curves.h.
  FileCurves Curves(const std::vector<std::string>& paths, const JobContext& context) const;
  // Returns the bytes of an HDF5 file that contains the records (data/store/run_store.h).
  std::string FileOf(const std::vector<Record>& records, const Provenance& provenance) const;

  // Returns whether the engine's machine has the file; false if this cannot be determined. Does not
  // start an engine on another machine.
  bool Exists(const std::string& path) const;

  const std::shared_ptr<EngineLink>& link() const { return link_; }

 private:
  std::shared_ptr<EngineLink> link_;
  std::shared_ptr<SentFiles> sent_;
};

}  // namespace midscope
