// SPDX-License-Identifier: MIT
// Writes a sweep's file while the sweep runs. Finished samples are appended to a checksummed
// journal beside the file (PATH.journal), each flushed to the disk when Append returns; a
// checkpoint merges them into the file by writing a new one and renaming it. The file itself is
// never open for writing under its name: if the process is killed, the last checkpoint and the
// journal remain, and only running samples are lost.
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

// Name of the record with a sweep's samples.
inline constexpr const char* kSweepRecord = "sweep";

struct SweepStoreOptions {
  bool resume = false;
  // Whether to replace an existing file and its journal, at the first checkpoint with a sample.
  bool overwrite = false;
  std::string record_name = kSweepRecord;
  // Axes whose size may differ between samples. Arrays with these axes are padded (NaN; -1 for
  // integers; false; ""), and array AXIS_count [sample] contains the sizes.
  std::vector<std::string> ragged_axes = {"key", kChoiceAxis};
  // Name of the plan's only member that may differ, by an increase, if a sweep is resumed; "":
  // none.
  std::string growing;
  // Plan of the resumed file if the task's file has grown since; kTaskFilesHash and kTaskFileBytes
  // may then differ, too. "": none.
  std::string earlier_plan = {};
  std::string signal;  // array that viewers show first; "": as in the samples' record
};

class SweepStore {
 public:
  // Starts or resumes a sweep. Throws Error: (usage) if the file or a journal exists, and neither
  // `resume` nor `overwrite` is set; (failure) if the file has another plan, the file or journal
  // can't be read, or another process holds the journal. The file's plan matches plan_json if they
  // are equal as JSON, or if the file's plan differs only in a smaller value of member `growing`
  // and, if it equals `earlier_plan`, in the task's file.
  static SweepStore Create(const std::string& path, const std::string& plan_json,
                           const Provenance& provenance, const SweepStoreOptions& options = {});
  // Opens the file, its journal or both for reading: of a sweep that has ended or was interrupted,
  // or of one process' part of a sweep. Reads the plan from them. Throws Error (failure) if neither
  // exists, one can't be read, or another process is writing it.
  static SweepStore OpenForReading(const std::string& path);
  ~SweepStore();
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) noexcept;

  const std::string& path() const;
  const std::string& plan_json() const;
  const Provenance& provenance() const;  // empty before the first checkpoint
  // Numbers of the samples that are stored, and of the samples that failed (in this process or an
  // earlier one).
  const std::set<int64_t>& finished() const;
  const std::set<int64_t>& failed() const;
  const std::map<int64_t, std::string>& failures() const;  // by sample: error message
  // Whether Finish has written the file, and no sample or failure was added since.
  bool is_complete() const;
  // Whether this process holds the lock on the sweep: false on a file system without locks.
  bool is_locked() const;
  // Whether the file is still the old one that this store will replace: no checkpoint has had a
  // sample yet, and samples are only in memory.
  bool keeps_old_file() const;
  // Returns the number of bytes of an incomplete last journal entry that resuming has dropped.
  int64_t dropped_bytes() const;

  // Stores one sample in the journal, flushed to the disk. All samples must have arrays of the same
  // names, types and axes, and axes of the same size unless they are ragged. Throws Error (failure)
  // if they differ or if writing fails; std::logic_error if the sample is already stored.
  void Append(int64_t sample, const Record& record);
  // Records that a sample could not be run; the sweep continues. A later Append of that sample
  // removes the failure.
  void AppendFailure(int64_t sample, const std::string& message);

  // Merges all stored samples into the file: arrays are stacked on a first axis `sample` (axis
  // values: sample numbers, ascending), with one sample per chunk for arrays with a ragged axis.
  // `extra` (summaries) replaces the extra records of the previous checkpoint. If samples failed,
  // record "failures" lists them.
  void Checkpoint(const std::vector<Record>& extra = {});
  // Calls Checkpoint, then removes the journal. A finished file to which nothing was added is not
  // written again.
  void Finish(const std::vector<Record>& extra = {});

  // Returns one stored sample as it was appended, but with the store's record name and signal, and
  // only the arrays for which `wanted` is true (empty: all).
  Record ReadSample(int64_t sample, const ArrayFilter& wanted = {}) const;

  // common_frame() returns the common part of all samples (SampleFrame): a record without array
  // data, with labels of ragged axes as arrays; null if there are no samples. RaggedSizesOf()
  // returns a sample's sizes of ragged axes, by axis name.
  const Record* common_frame() const;
  const std::map<std::string, int64_t>& RaggedSizesOf(int64_t sample) const;

  // file() returns a reader of the last checkpoint; null if all samples are in the journal.
  // FileRow() returns a sample's row in that file; nullopt if it is in the journal.
  const RunReader* file() const;
  std::optional<int64_t> FileRow(int64_t sample) const;
  const std::string& record_name() const;

 private:
  struct State;
  explicit SweepStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Renames the file of the finished sweep `from` to `to`, replacing an existing file, and flushes
// the folder to the disk. Throws Error (failure).
void ReplaceSweep(const std::string& from, const std::string& to);

// Name of the record that lists the failed samples.
inline constexpr const char* kFailuresRecord = "failures";

// Makes record "failures" with arrays failed_sample and failure_message [failure]. `failures`:
// error messages by sample number.
Record FailuresRecord(const std::map<int64_t, std::string>& failures);

// Returns error messages by sample number from a file with record "failures". Throws Error
// (failure) if the record is damaged.
std::map<int64_t, std::string> ReadFailures(const RunReader& reader);

}  // namespace midscope
