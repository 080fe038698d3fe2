// SPDX-License-Identifier: MIT
// Writes a sweep's file while the sweep runs. Finished samples are appended to a checksummed
// journal beside the file (PATH.journal), each on the disk when Append returns; a checkpoint merges
// them into the file by writing a new one and renaming it. The file itself is never open for
// writing under its name: if the process is killed, the last checkpoint and the journal remain, and
// only running samples are lost.
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

// The record of a sweep's samples.
inline constexpr const char* kSweepRecord = "sweep";

struct SweepStoreOptions {
  bool resume = false;
  // An existing file and its journal are replaced at the first checkpoint that has a sample, not
  // before.
  bool overwrite = false;
  std::string record_name = kSweepRecord;
  // Axes whose size may differ between samples. Arrays over them are padded (NaN; -1 for integers;
  // false; ""), and array AXIS_count [sample] has the sizes.
  std::vector<std::string> ragged_axes = {"key", kChoiceAxis};
  // The only member of the plan that may differ when a sweep is resumed, and only increase; "":
  // none.
  std::string growing;
  // The plan of the file that is resumed, if the task's file has grown since: it may differ in
  // kTaskFilesHash and kTaskFileBytes, too. "": none.
  std::string earlier_plan = {};
  std::string signal;  // the array that a viewer shows first; "": the signal of the samples' record
};

class SweepStore {
 public:
  // Throws Error: (usage) if the file or a journal exists, and neither `resume` nor `overwrite` is
  // set; (failure) if the file has another plan, the file or journal can't be read, or another
  // process holds the journal. plan_json: the plan as JSON. It matches the file's plan if they are
  // equal as JSON, or if the file's differs only in a smaller value of `growing` and, if it is
  // `earlier_plan`, in the task's file.
  static SweepStore Create(const std::string& path, const std::string& plan_json,
                           const Provenance& provenance, const SweepStoreOptions& options = {});
  // Opens the file, its journal or both, to read the samples of a sweep that has ended, was
  // interrupted or is a rank's part. The plan is read from them. Throws Error (failure) if neither
  // exists, one can't be read, or another process is writing it.
  static SweepStore OpenForReading(const std::string& path);
  ~SweepStore();
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) noexcept;

  const std::string& path() const;
  const std::string& plan_json() const;
  const Provenance& provenance() const;  // empty before the first checkpoint
  // Numbers of the samples that are stored (by this or an earlier process), and of those that
  // failed.
  const std::set<int64_t>& finished() const;
  const std::set<int64_t>& failed() const;
  const std::map<int64_t, std::string>& failures() const;  // error messages by sample
  // Whether Finish has written the file, and nothing has changed since.
  bool is_complete() const;
  // Whether other processes are locked out: false on a file system without locks.
  bool is_locked() const;
  // Whether the file is still the old one that this store will replace: no checkpoint has had a
  // sample yet, and samples are only in memory.
  bool keeps_old_file() const;
  // Bytes of an incomplete last journal entry that were dropped on resuming.
  int64_t dropped_bytes() const;

  // Stores one sample; it is in the journal, on the disk, when this returns. All samples must have
  // arrays of the same names, types and axes, and axes of the same size unless they are ragged.
  // Throws Error (failure) otherwise, or if writing fails; std::logic_error if the sample is
  // already stored.
  void Append(int64_t sample, const Record& record);
  // Records that a sample could not be run; the sweep continues. A later Append of that sample
  // removes the failure.
  void AppendFailure(int64_t sample, const std::string& message);

  // Merges all stored samples into the file: arrays are stacked on a first axis `sample` (its
  // values: the samples' numbers, ascending), with one sample per chunk for arrays over a ragged
  // axis. `extra` (summaries) replaces the extra records of the previous checkpoint. If samples
  // failed, record "failures" lists them.
  void Checkpoint(const std::vector<Record>& extra = {});
  // Calls Checkpoint, then removes the journal. A finished file to which nothing was added is not
  // written again.
  void Finish(const std::vector<Record>& extra = {});

  // Returns one stored sample as it was appended, but with the store's record name and signal, and
  // only the `wanted` arrays (empty: all).
  Record ReadSample(int64_t sample, const ArrayFilter& wanted = {}) const;

  // The common part of all samples (SampleFrame): their record without data, with labels of ragged
  // axes as arrays; null if there are no samples. RaggedSizesOf: the sizes of a sample's ragged
  // axes.
  const Record* common_frame() const;
  const std::map<std::string, int64_t>& RaggedSizesOf(int64_t sample) const;

  // A reader of the file as of opening or the last checkpoint; null if all samples are in the
  // journal. FileRow: the sample's row in that file; nullopt if it is in the journal.
  const RunReader* file() const;
  std::optional<int64_t> FileRow(int64_t sample) const;
  const std::string& record_name() const;

 private:
  struct State;
  explicit SweepStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Renames the file of the finished sweep `from` to `to`, replacing an existing file; flushed to the
// disk when it returns. Throws Error (failure).
void ReplaceSweep(const std::string& from, const std::string& to);

// The record that lists the failed samples.
inline constexpr const char* kFailuresRecord = "failures";

// Makes the record: arrays failed_sample and failure_message [failure]. `failures`: error messages
// by sample number.
Record FailuresRecord(const std::map<int64_t, std::string>& failures);

// Reads the failures of a file that has the record. Throws Error (failure) if the record is
// damaged.
std::map<int64_t, std::string> ReadFailures(const RunReader& reader);

}  // namespace midscope
