// SPDX-License-Identifier: MIT
// Results files of the engine's machine, read and made by an engine process: a damaged file that
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

// A file that is read one sample at a time (data/sweep/sample_view.h). Thread-safe.
class RemoteSampleView {
 public:
  // Throws Error if the file cannot be read.
  RemoteSampleView(std::shared_ptr<EngineLink> link, const std::string& path);

  const Axis& samples() const { return choices_.axes.at(0); }
  const Axis& settings() const { return choices_.axes.at(1); }
  const Axis& places() const { return choices_.axes.at(2); }
  // The file without what Read() returns.
  const RunFile& overview() const { return overview_; }
  // Returns the records of one sample. Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  const std::shared_ptr<EngineLink> link_;
  const std::string path_;
  RunFile overview_;
  Record choices_;  // with the axes sample, setting and place
};

// Curves of the outcome over each parameter that the files have.
struct FileCurves {
  std::vector<std::string> parameters;
  std::vector<Record> curves;  // outcome_curves over each parameter, in that order
  int64_t files = 0;
};

class ResultFiles {
 public:
  explicit ResultFiles(std::shared_ptr<EngineLink> link)
      : link_(std::move(link)), sent_(std::make_shared<SentFiles>(*link_)) {}

  // As ReadForViewing (sample_view.h). Read() and Curves() send files of this machine to an engine
  // on another one (sent_files.h), but not folders.
  RunFile Read(const std::string& path) const;
  // As Read(), for a file that a command has written on the engine's machine.
  RunFile ReadWritten(const std::string& path) const;
  std::shared_ptr<const RemoteSampleView> View(const std::string& path) const;
  // Curves over files of sweeps or probes and folders of them; see probes/sweep/outcome_curves.h.
  FileCurves Curves(const std::vector<std::string>& paths, const JobContext& context) const;
  // Returns the bytes of an HDF5 file with the records (data/store/run_store.h).
  std::string FileOf(const std::vector<Record>& records, const Provenance& provenance) const;

  // Whether the engine's machine has the file; false if it cannot be known. No engine is started on
  // another machine for this.
  bool Exists(const std::string& path) const;

  const std::shared_ptr<EngineLink>& link() const { return link_; }

 private:
  std::shared_ptr<EngineLink> link_;
  std::shared_ptr<SentFiles> sent_;
};

}  // namespace midscope
