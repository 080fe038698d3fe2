// SPDX-License-Identifier: GPL-3.0-or-later
// The state that a Session can show: the records of the open model's prompt, or those of a results
// file. A session has one view for the model and one for each open file.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/base/newest_reply.h"
#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "probes/client/result_files.h"
#include "probes/engine/engine.h"

namespace midscope {

// One side's setting and its records.
struct SideView {
  Intervention setting;
  std::string text = "none";  // PrintIntervention(setting)
  // The text without terms that change nothing (WithoutNeutralTerms).
  std::string in_effect = "none";
  void Ask(const Intervention& wanted);
  void DropRecords() {
    records.clear();
    query_attention.reset();
    settled = follows = false;
  }
  std::map<std::string, std::shared_ptr<const Record>> records;  // by name
  std::shared_ptr<const Record> query_attention;                 // of Session::query_row()
  bool settled = false;  // the capture run of the setting is complete
  // Whether what-ifs include the score map and hidden channels.
  bool follows = false;
  quint64 shown_ticket = 0;  // ticket of the what-if on the screen
  struct Part {              // state of the running what-if, or of the last one
    quint64 ticket = 0;
    std::string setting;
    bool whole = false;  // every layer is done
  };
  Part part;
};

// The means of one setting over samples: an index into a record of several settings.
struct MeansEntry {
  std::shared_ptr<const Record> record;
  size_t index = 0;
  bool complete = false;
};

// Records of probes over samples under one setting, by name.
struct SampleProbes {
  std::map<std::string, std::shared_ptr<const Record>> records;
  bool complete = false;
};

struct Means {
  OutcomeSeries series;
  bool complete = false;
  // Whether they cover only the samples of the other side's partial mean.
  bool beside = false;
};

// The samples of a file: one is shown, the others are read when they are chosen.
struct ReadSample {
  std::vector<Record> records;
  double milliseconds = 0;
  QString failure;  // empty: none
};
struct FileSamples {
  std::shared_ptr<const RemoteSampleView> view;
  std::unique_ptr<NewestReply<SampleChoice, ReadSample>> reader;
  SampleChoice choice;
  double milliseconds = 0;  // time for reading the shown sample
};

struct SessionView {
  static constexpr int64_t kFirstChannel = 100;

  // The state of a side. For B, the state of the second model, if there is one.
  const SideView& state(Side side) const { return side == Side::kA ? a : second ? second->a : b; }
  // The state of a side in the first model.
  SideView& own(Side side) { return side == Side::kA ? a : b; }
  // Whether B differs from A; for a file, whether it has records of B.
  bool differs() const {
    return is_file ? !b.records.empty() : second != nullptr || a.setting != b.setting;
  }
  // The open model's displayed name; "" if none is open.
  QString ModelLabel() const;
  // The record of the shown prompt; nullptr if there is none.
  const Record* prompt() const;
  // Finds a record by name (probes/engine/engine.h); nullptr if it has not arrived, or if B equals
  // A.
  const Record* Find(Side side, const std::string& name) const;
  // The sorted names of all records that have arrived, except those of channel searches.
  std::vector<std::string> RecordNames(Side side) const;
  // The probes over samples under the side's setting; nullptr if there are none.
  const SampleProbes* SampleProbesOf(Side side) const;
  // The means of a side. While the other side's means are partial, both are over the same samples
  // if these means are known.
  std::optional<Means> MeansOf(Side side, Measure measure) const;
  // The means of any setting that was compared before, or is equivalent to one that was. `text`:
  // its printed form.
  std::optional<Means> MeansOfSetting(const std::string& text, Measure measure) const;
  // B minus A over the same samples, with its interval (Measure::kDifference); nullopt if unknown.
  std::optional<Means> DifferenceOfMeans() const;
  // BestSeriesOf applied to the records of a file; cached after the first call.
  const std::vector<OutcomeSeries>& FileSeries(Measure measure) const;
  // Adds a record of a file to the side under which panels look it up.
  void TakeRecord(const Record& record);

  // The view of the second model, whose A is B here; null: A and B are settings of one model.
  const SessionView* second = nullptr;
  bool is_file = false;
  std::optional<ModelSummary> model;  // nullopt: none is open, or a file is shown
  Provenance provenance;
  std::optional<PromptRequest> prompt_request;  // made `prompts`; nullopt for a file
  std::vector<Record> prompts;                  // one per place
  std::string task;
  size_t place = 0;  // index into `prompts`
  int64_t channel = kFirstChannel;
  SideView a;
  SideView b;
  std::shared_ptr<const Record> reference;   // a published line; null: none
  std::map<std::string, MeansEntry> means;   // by TextInEffect of the setting
  std::map<std::string, MeansEntry> beside;  // of other settings, over the samples that are done
  std::map<std::string, SampleProbes> sample_probes;  // as `means`
  std::shared_ptr<const Record> scan;                 // null: none
  // By name: channel_search, channel_validation, prompt_channels.
  std::map<std::string, std::shared_ptr<const Record>> channels;
  // Set only for a file:
  QString path;
  std::vector<Record> file_records;
  std::optional<FileSamples> samples;  // nullopt: the file has none

 private:
  mutable std::map<Measure, std::vector<OutcomeSeries>> file_series_;
  const MeansEntry* BesideOf(Side side) const;
  std::optional<Means> NoDifference() const;
};

// Makes the view of a file's records, without the records of single samples.
std::unique_ptr<SessionView> ViewOfFile(RunFile file, const QString& path);

// Cache of records of prompts and places that were shown before, so that returning to them needs no
// new run.

// Whether two requests make the same prompts. Always false if a request contains texts for patches
// to take values from.
bool SamePrompts(const PromptRequest& a, const PromptRequest& b);

struct KeptView {
  PromptRequest request;
  size_t place = 0;  // index into the request's places
  int64_t channel = 0;
  std::string probe_options;
  // The records of a side are used only if it is settled.
  SideView a;
  SideView b;
  std::map<std::string, MeansEntry> means;

  // The settled side with this setting; nullptr if there is none.
  const SideView* Find(const Intervention& setting) const;
};

// Cached views of one open model. The total size in bytes is limited; the oldest view is dropped
// first.
class KeptViews {
 public:
  static constexpr size_t kLimit = size_t{48} << 20;

  explicit KeptViews(size_t limit_bytes = kLimit) : limit_(limit_bytes) {}

  // Replaces the view of the same prompt and place. A view larger than the limit is not stored.
  void Keep(KeptView view);
  // Returns nullptr if there is none. Valid until another function of this object is called.
  const KeptView* Find(const PromptRequest& request, size_t place) const;
  void Forget(const PromptRequest& request);
  void Clear() { views_.clear(); }
  size_t size() const { return views_.size(); }

 private:
  struct Entry {
    KeptView view;
    size_t bytes = 0;
  };
  std::list<Entry> views_;  // newest first
  size_t limit_;
};

}  // namespace midscope
