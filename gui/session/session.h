// SPDX-License-Identifier: GPL-3.0-or-later
// What is being looked at: a model, a prompt request, two settings A and B, and the records that
// belong to them. Asks the engine for what is missing, in the order in which eyes need it, and
// tells the panels what has come. Knows no widget.
//
// A new setting is answered by a what-if at once, which brings the score map and the hidden channel
// along where all layers are kept; when a hand that still holds a knob pauses, full runs follow
// (all other records), and when it rests the means over samples do.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "gui/session/engine_worker.h"
#include "gui/session/sample_reader.h"

namespace midscope {

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(std::unique_ptr<Engine> engine, QObject* parent = nullptr);

  // Opens another model; what is on the screen stays until that is done, and where it fails.
  // `prompt_request`: what it is asked then; without: what was asked before.
  void Open(const OpenRequest& request, std::optional<PromptRequest> prompt_request = std::nullopt);
  // Kept until a model is open.
  void SetPrompt(const PromptRequest& prompt_request);
  // `dragging`: the hand is still on a knob; what takes long waits until it is not.
  void SetSettings(const Intervention& a, const Intervention& b, bool dragging);
  // Index into the prompt request's prompts; until then it is the middle one.
  void SetPlace(size_t place);
  // The same for the prompts that the next prompt request brings.
  void PreferPlace(size_t place) {
    place_ = place;
    place_chosen_ = true;
  }
  void SetChannel(int64_t channel);
  // Samples of the means; 0: no means.
  void SetSamples(int64_t samples);
  // Of the full runs from now on, those of the settings on the screen among them, which are made
  // again (CaptureRunRequest::probe_options).
  void SetProbeOptions(const std::string& json);
  void Cancel();
  // Shows records read from a file instead of a model's; where the file has samples, the first one
  // of them, which comes a little later (SampleShown).
  void ShowFile(const RunFile& file, std::shared_ptr<const SampleView> samples = nullptr);
  // Shows another sample of the file; the newest choice wins. Does nothing where there is none.
  void ChooseSample(const SampleChoice& choice);
  // A line over places that the outcome is drawn beside (data/published/published_record.h);
  // nothing: none.
  void SetReference(std::optional<Record> reference);

  // Records of the file that is shown; empty where a model's are.
  const std::vector<Record>& file_records() const { return file_records_; }
  // Whether a file is shown, with samples or without.
  bool shows_file() const { return sample_reader_ || !file_records_.empty(); }
  // The file's samples; null where it has none, or a model's records are shown.
  const SampleView* sample_view() const;
  const SampleChoice& sample_choice() const { return sample_choice_; }
  // How long the sample on the screen took to read.
  double sample_milliseconds() const { return sample_milliseconds_; }
  // Of what is shown, in full where it can be told: "kv:pairs=10"; "" for own text.
  const std::string& task() const { return task_; }
  const std::optional<ModelSummary>& model() const { return model_; }
  const Provenance& provenance() const { return provenance_; }
  const std::vector<Record>& prompts() const { return prompts_; }
  // What the prompts on the screen were made from; nothing: no prompt of a model is on the screen.
  const std::optional<PromptRequest>& shown_prompt_request() const { return shown_prompt_request_; }
  const Record* prompt() const;
  size_t place() const { return place_; }
  int64_t channel() const { return channel_; }
  int64_t samples() const { return samples_; }
  const std::string& probe_options() const { return probe_options_; }
  // What is asked for. What made the numbers on the screen is written on their records
  // (probes/base/record_origin.h, gui/session/record_name.h).
  const Intervention& setting(Side side) const { return state(side).setting; }
  // By record name (probes/engine/engine.h); null where it has not come, or B is the same as A.
  const Record* record(Side side, const std::string& name) const;
  // The names of all that have come, sorted.
  std::vector<std::string> record_names(Side side) const;
  // Whether the record is of what is asked: the side's setting, the prompt on the screen, the model
  // that is open. Of a file's records: always.
  bool IsAsked(Side side, const Record& record) const;
  // Whether panels mark the record as older than what is asked. While a knob is dragged, the
  // newest what-if's records are one step behind and are not marked.
  bool ShownAsOlder(Side side, const Record& record) const;
  // Whether full runs of the side's setting have come.
  bool settled(Side side) const { return state(side).settled; }
  // Whether what-ifs bring the score map and hidden channels along, so that these follow the hand.
  bool follows(Side side) const { return state(side).follows; }
  // Of a file: whether it has records of B.
  bool differs() const { return shows_file() ? !b_.records.empty() : a_.setting != b_.setting; }

  struct Means {
    OutcomeSeries series;
    bool complete = false;
    // Over as many samples as the other side's partial mean is, not over all that there are.
    bool beside = false;
  };
  // While the other side's mean is partial: over the same samples, where they are known.
  std::optional<Means> MeansOf(Side side, Measure measure) const;
  // What a file of results holds: records of what is asked, under the names that they have on
  // themselves. Others are named in `left_out`, a line for each setting that they are of.
  struct ScreenRecords {
    std::vector<Record> records;
    QStringList left_out;
  };
  ScreenRecords RecordsOnScreen() const;

  // Whether replies are awaited or the hand's rest is.
  bool asked_and_waiting() const { return !pending_.empty() || release_timer_.isActive(); }

  EngineWorker& worker() { return worker_; }
  // How long the hand must rest before full runs begin.
  void SetReleaseDelay(int milliseconds) { release_timer_.setInterval(milliseconds); }
  // How long a hand that holds a knob must pause before the full runs of where it is begin.
  void SetPauseDelay(int milliseconds) { pause_timer_.setInterval(milliseconds); }

 Q_SIGNALS:
  void ModelChanged();
  void PromptsChanged();
  void SettingsChanged();
  // Records of a side came or went: attention and outcome with every what-if.
  void SideChanged(midscope::Side side);
  // Records of a side's full run came or went (score map, hidden channels), or are of an older
  // setting from now on.
  void FullRunChanged(midscope::Side side);
  // A what-if brought a side's score map and hidden channels along.
  void Followed(midscope::Side side);
  void MeansChanged();
  // A file with samples was opened or left.
  void SampleFileChanged();
  void SampleShown();
  void ReferenceChanged();
  // `what` in words while something other than a what-if is wanted; empty: at rest.
  void BusyChanged(const QString& what);
  void Progressed(const midscope::Progress& progress);
  void WhatIfTimed(const midscope::WhatIfCost& cost);
  void Failed(const QString& why);
  void Stopped();

 private:
  struct SideState {
    Intervention setting;
    std::string text = "none";  // PrintIntervention of it
    void Ask(const Intervention& wanted);
    std::map<std::string, std::shared_ptr<const Record>> records;
    bool settled = false;
    bool follows = false;
    quint64 shown_ticket = 0;  // of the what-if on the screen
  };
  struct MeansEntry {
    std::shared_ptr<const Record> record;
    size_t index = 0;
    bool complete = false;
  };

  const SideState& state(Side side) const { return side == Side::kA ? a_ : b_; }
  SideState& state(Side side) { return side == Side::kA ? a_ : b_; }
  quint64 Post(EngineRequest request, Side side = Side::kA);
  void PostPrompt();
  void RequestCaptureRun(Side side);
  void RepeatCaptureRuns();
  void RequestWhatIf(Side side);
  void RequestMeans();
  void RequestEverything();
  // Goes on with what is missing, after a request that changed nothing.
  void Resume();
  // Whether the engine has the prompts that are on the screen.
  bool ready() const { return model_ && !opening_ && !prompts_.empty(); }
  bool AnyOlder() const;
  // Whether a request of that kind has no reply yet.
  bool Awaits(RequestKind kind) const;
  void CollectSide(Side side, ScreenRecords& screen) const;
  void CollectMeans(std::vector<Record>& records) const;
  void OnPaused();
  void OnReleased();
  // True where the records on the screen are others from now on.
  bool ChangeSide(Side side, const SideState& next, bool dragging);
  void EmitSideChanges();

  void OnReply(const EngineWorker::ReplyPointer& reply);
  void OnPartial(quint64 ticket, const EngineWorker::RecordPointer& record);
  void OnFailed(const EngineReply& reply);
  void OnOpen(const EngineReply& reply);
  void OnPrompt(const EngineReply& reply);
  void OnCaptureRun(const EngineReply& reply);
  void OnWhatIf(const EngineReply& reply);
  void OnMeans(const EngineReply& reply);
  const MeansEntry* BesideOf(Side side) const;
  void StoreMeans(const std::shared_ptr<const Record>& record, bool complete);
  bool HasOtherChannel(const SideState& side, const Record& record) const;
  void UpdateBusy();
  void CancelMeans();
  void CancelEverything();
  void LeaveFile();
  void OnSample(const SampleReader::ReplyPointer& reply);
  void TakeRecord(const Record& record);

  std::optional<ModelSummary> model_;
  Provenance provenance_;
  std::optional<PromptRequest> prompt_request_;
  std::optional<PromptRequest> shown_prompt_request_;
  bool prompt_request_waits_ = false;
  bool opening_ = false;   // a model; `model_` is the one before
  bool stopped_ = false;   // by Cancel, since the last request
  bool dragging_ = false;  // a knob
  std::vector<Record> prompts_;
  std::vector<Record> file_records_;
  std::unique_ptr<SampleReader> sample_reader_;  // null: no file with samples
  SampleChoice sample_choice_;
  double sample_milliseconds_ = 0;
  std::string task_;
  size_t place_ = 0;
  bool place_chosen_ = false;
  int64_t wanted_channel_ = 100;  // a narrower model shows its last one
  int64_t channel_ = 100;
  int64_t samples_ = 20;
  std::string probe_options_ = "{}";
  SideState a_;
  SideState b_;
  std::shared_ptr<const Record> reference_;   // null: none
  std::map<std::string, MeansEntry> means_;   // by the setting's text
  std::vector<std::string> asked_means_;      // settings of the comparison under way
  std::map<std::string, MeansEntry> beside_;  // others, over the samples that it has done
  quint64 asked_ticket_ = 0;
  quint64 valid_from_ = 0;  // replies to older tickets are about another prompt
  struct Pending {
    RequestKind kind = RequestKind::kOpen;
    Side side = Side::kA;
  };
  std::map<quint64, Pending> pending_;
  QString busy_;
  QTimer pause_timer_;
  QTimer release_timer_;
  EngineWorker worker_;
};

}  // namespace midscope
