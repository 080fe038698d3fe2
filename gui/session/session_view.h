// SPDX-License-Identifier: GPL-3.0-or-later
// The contents that a Session shows at a time: the records of the open model's prompt, or those of
// a file of results. A session has one view of the model, and one more per open file.
#pragma once

#include <QString>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "gui/session/sample_reader.h"
#include "probes/engine/engine.h"

namespace midscope {

// One side's setting and its records.
struct SideView {
  Intervention setting;
  std::string text = "none";       // PrintIntervention of it
  std::string in_effect = "none";  // without what changes nothing (WithoutNeutralTerms)
  void Ask(const Intervention& wanted);
  std::map<std::string, std::shared_ptr<const Record>> records;  // by name
  bool settled = false;  // the capture run of the setting is complete
  // What-ifs include the score map and hidden channels.
  bool follows = false;
  quint64 shown_ticket = 0;  // of the what-if on the screen
  struct Part {              // of the what-if that goes on, or of the last one
    quint64 ticket = 0;
    std::string setting;
    bool whole = false;  // every layer is done
  };
  Part part;
};

// One setting's means over samples in a record of several settings.
struct MeansEntry {
  std::shared_ptr<const Record> record;
  size_t index = 0;
  bool complete = false;
};

struct Means {
  OutcomeSeries series;
  bool complete = false;
  // over the samples of the other side's partial mean only
  bool beside = false;
};

// Samples of a file, one of which is shown; the others are read when they are chosen.
struct FileSamples {
  std::unique_ptr<SampleReader> reader;
  SampleChoice choice;
  double milliseconds = 0;  // reading time of the shown one
};

struct SessionView {
  static constexpr int64_t kFirstChannel = 100;

  const SideView& state(Side side) const { return side == Side::kA ? a : b; }
  SideView& state(Side side) { return side == Side::kA ? a : b; }
  // For a file: whether it has records of B.
  bool differs() const { return is_file ? !b.records.empty() : a.setting != b.setting; }
  // The open model's displayed name; "": none is open.
  QString ModelLabel() const;
  // Null: none.
  const Record* prompt() const;
  // By record name (probes/engine/engine.h); null where it has not arrived, or B equals A.
  const Record* Find(Side side, const std::string& name) const;
  // The names of all records that have arrived, sorted; without those of channels.
  std::vector<std::string> RecordNames(Side side) const;
  // While the other side's mean is partial: over the same samples, where they are known.
  std::optional<Means> MeansOf(Side side, Measure measure) const;
  // Means of any setting that was compared before, or equals one; `text`: its printed form.
  std::optional<Means> MeansOfSetting(const std::string& text, Measure measure) const;
  // B minus A over the same samples, with its interval (Measure::kDifference); nullopt: not known.
  std::optional<Means> DifferenceOfMeans() const;
  // BestSeriesOf the records of a file, which are averaged once.
  const std::vector<OutcomeSeries>& FileSeries(Measure measure) const;
  // Adds a record of a file to the side that panels read it from.
  void TakeRecord(const Record& record);

  bool is_file = false;
  std::optional<ModelSummary> model;  // nullopt: none is open, or a file's
  Provenance provenance;
  std::optional<PromptRequest> prompt_request;  // of `prompts`; nullopt for a file's
  std::vector<Record> prompts;                  // one per place
  std::string task;
  size_t place = 0;  // index into `prompts`
  int64_t channel = kFirstChannel;
  SideView a;
  SideView b;
  std::shared_ptr<const Record> reference;   // a published line; null: none
  std::map<std::string, MeansEntry> means;   // by the setting's text, in effect
  std::map<std::string, MeansEntry> beside;  // other settings, over the samples done so far
  std::shared_ptr<const Record> scan;        // null: none
  // By name: channel_search, channel_validation, prompt_channels.
  std::map<std::string, std::shared_ptr<const Record>> channels;
  // Set for a file only:
  QString path;
  std::vector<Record> file_records;
  std::optional<FileSamples> samples;  // nullopt: it has none

 private:
  mutable std::map<Measure, std::vector<OutcomeSeries>> file_series_;
  const MeansEntry* BesideOf(Side side) const;
  std::optional<Means> NoDifference() const;
};

// The view of a file's records, without those of single samples.
std::unique_ptr<SessionView> ViewOfFile(RunFile file, const QString& path);

}  // namespace midscope
