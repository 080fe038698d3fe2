// SPDX-License-Identifier: MIT
// A sweep's file while it grows. Finished samples are appended to a checksummed journal beside the
// file (PATH.journal), each durable when Append returns; a checkpoint merges them into the file by
// writing a new one and renaming it. The file itself is never open for writing under its name, so
// that a kill at any moment leaves the last checkpoint, and resuming loses only running samples.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "data/store/plan_text.h"
#include "data/store/record_reader.h"
#include "data/store/unfinished_files.h"

namespace midscope {

struct SweepStoreOptions {
  bool resume = false;
  // A file and a journal of that name are replaced at the first checkpoint that has a sample, not
  // before.
  bool overwrite = false;
  std::string record_name = "sweep";
  // Axes whose size may differ between samples. Arrays over them are padded (NaN; -1 for integers;
  // false; ""), and AXIS_count [sample] has the sizes.
  std::vector<std::string> ragged_axes = {"key", kChoiceAxis};
  // A member of the plan that may grow when a sweep is resumed, all others being equal; "": none.
  std::string growing;
  std::string signal;  // the array that a viewer shows first; "": the sample record's own signal
};

class SweepStore {
 public:
  // Throws Error: (usage) the file or a journal exists, and neither `resume` nor `overwrite` is
  // set; (failure) the file has another plan, the file or journal can't be read, another process
  // holds the journal. plan_json: the plan as JSON; two plans are the same when they are equal as
  // JSON, or when the file's differs only in a smaller `growing`.
  static SweepStore Create(const std::string& path, const std::string& plan_json,
                           const Provenance& provenance, const SweepStoreOptions& options = {});
  // Opens a sweep that ended, was interrupted or is a rank's part, to read its samples: the file,
  // its journal or both. The plan is the stored one. Throws Error (failure) if neither exists, one
  // can't be read, or another process is writing it.
  static SweepStore OpenForReading(const std::string& path);
  ~SweepStore();
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) noexcept;

  const std::string& path() const;
  const std::string& plan_json() const;
  const Provenance& provenance() const;  // empty before the first checkpoint
  // Samples that are stored (by this or an earlier process), and those that failed.
  const std::set<int64_t>& finished() const;
  const std::set<int64_t>& failed() const;
  const std::map<int64_t, std::string>& failures() const;  // sample: why
  // Whether the file is as Finish left it, and nothing has changed since.
  bool is_complete() const;
  // Whether other processes are locked out: false on a file system without locks.
  bool is_locked() const;
  // Whether the file is still the one that this store is to replace: no checkpoint has had a
  // sample, and samples are in memory alone.
  bool keeps_old_file() const;
  // Bytes of a torn journal tail that resuming dropped; 0 for none.
  int64_t dropped_bytes() const;

  // Stores one sample: durable in the journal when this returns. All samples have arrays of the
  // same names, types and axes; axes are equal except ragged ones. Throws Error (failure) if they
  // are not or writing fails, std::logic_error if the sample is stored already.
  void Append(int64_t sample, const Record& record);
  // Records that a sample could not be run; the sweep continues. A later Append of it removes this.
  void AppendFailure(int64_t sample, const std::string& message);

  // Merges all stored samples into the file: arrays stacked on a leading axis `sample` (its values:
  // the samples' numbers, ascending), one sample per chunk for arrays over a ragged axis. `extra`
  // (summaries) replaces the extra records of the checkpoint before. Record "failures" lists failed
  // samples, if there are any.
  void Checkpoint(const std::vector<Record>& extra = {});
  // Checkpoint, then removes the journal. A file that was finished, and to which nothing was added,
  // is not written again.
  void Finish(const std::vector<Record>& extra = {});

  // One stored sample, as appended, with the store's record name and signal, and only those arrays
  // that are `wanted` (empty: all).
  Record ReadSample(int64_t sample, const ArrayFilter& wanted = {}) const;

  // The common part of all samples (sample_rows.h): their record without data, with labels of
  // ragged axes as arrays; null if there are no samples. And the sizes of a sample's ragged axes.
  const Record* common_frame() const;
  const std::map<std::string, int64_t>& RaggedSizesOf(int64_t sample) const;

  // The file's reader as of opening or the last checkpoint, null if all samples are in the journal;
  // and a sample's row in it, nullopt if it is in the journal.
  const RunReader* file() const;
  std::optional<int64_t> FileRow(int64_t sample) const;
  const std::string& record_name() const;

 private:
  struct State;
  explicit SweepStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Renames the finished sweep `from` to `to`, replacing the file there; durable when it returns.
// Throws Error (failure).
void ReplaceSweep(const std::string& from, const std::string& to);

}  // namespace midscope
