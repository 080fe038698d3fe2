// SPDX-License-Identifier: GPL-3.0-or-later
// The state behind the panels: a model, a prompt request, two settings A and B, and their records,
// and files of results that are shown in turn with it (gui/session/session_view.h).
// Requests missing records from the engine; replies are ordered by visual priority. Uses no
// widgets.
//
// All changes of what is shown are one signal, Changed, with a flag per kind of change; changes of
// one turn of the event loop are one emission. Receivers read the state from the session.
//
// A new setting is answered by a what-if at once, which includes the score map and the hidden
// channel where all layers are kept. Capture runs (all other records) follow when a dragged slider
// pauses, means over samples when it is released.
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
#include "gui/base/newest_request.h"
#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "gui/session/changes.h"
#include "gui/session/engine_worker.h"
#include "gui/session/kept_views.h"
#include "gui/session/session_view.h"
#include "gui/session/setting_marks.h"

namespace midscope {

// The attribute of a saved record `prompt` that holds the user's notes.
inline constexpr char kNotesAttribute[] = "notes";

// The prompts that a request would make, one per place, or why it makes none.
struct PromptPreview {
  PromptRequest request;
  std::vector<Record> prompts;
  QString failure;
};

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(std::unique_ptr<Engine> engine, QObject* parent = nullptr);

  // Opens another model. The records on the screen remain until it is open, and if opening fails.
  // `prompt_request`: the prompt to run then; without it: the previous one.
  void Open(const OpenRequest& request, std::optional<PromptRequest> prompt_request = std::nullopt);
  // Stored until a model is open. What was on the screen before for the same prompt and the same
  // settings is shown again without a run, unless it is what is shown now.
  void SetPrompt(const PromptRequest& prompt_request);
  // As above, at a place (index into its prompts); no run where they are shown already.
  void RestorePrompt(const PromptRequest& prompt_request, size_t place);
  // `dragging`: a slider is being dragged; capture runs and means are postponed.
  void SetSettings(const Intervention& a, const Intervention& b, bool dragging);
  // Index into the prompts of the prompt request. Default: the middle one.
  void SetPlace(size_t place);
  // As above, for the prompts of the next prompt request.
  void PreferPlace(size_t place) {
    live_.place = place;
    place_chosen_ = true;
  }
  static constexpr int64_t kFirstChannel = SessionView::kFirstChannel;
  void SetChannel(int64_t channel);
  static constexpr int64_t kUsualSamples = 20;
  // Number of samples of the means; 0: no means.
  void SetSamples(int64_t samples);
  // Means start by themselves where they are expected to take less; else StartMeans starts them.
  static constexpr double kMostAutomaticSeconds = 10;
  // Means of A and B that are missing and have not been started.
  struct MeansOffer {
    int64_t samples = 0;
    double seconds = 0;  // as the runs of the shown prompts took
    bool operator==(const MeansOffer&) const = default;
  };
  // nullopt: they are there, run, start by themselves, or nothing is known of what they cost.
  std::optional<MeansOffer> means_offer() const;
  // Whether cheap means start by themselves. Default: they do.
  void SetMeansStartAutomatically(bool start);
  bool means_start_automatically() const { return means_start_automatically_; }
  void StartMeans();
  // False: no means are requested. Those that run stop; finished samples stay.
  void SetMeansWanted(bool wanted);
  bool means_wanted() const { return means_wanted_; }
  // Options of all further capture runs, and repeats those of the shown settings
  // (CaptureRunRequest::probe_options).
  void SetProbeOptions(const std::string& json);
  // Makes the prompts of a request on a thread of its own, beside what runs: Previewed has them. A
  // newer request supersedes a waiting one.
  void Preview(const PromptRequest& prompt_request);
  void Cancel();
  // Shows records of a file beside the model, which goes on with what it does. Of a file with
  // samples, the first sample is read asynchronously (Change::kSample). A file that is open already
  // (by `path`) is replaced.
  void ShowFile(const RunFile& file, std::shared_ptr<const SampleView> samples = nullptr,
                const QString& path = QString());
  // As above, with the view from ViewOfFile.
  void ShowView(std::unique_ptr<SessionView> view, std::shared_ptr<const SampleView> samples);
  // Means of the file that is shown, setting by setting.
  const std::vector<OutcomeSeries>& FileSeries(Measure measure) const {
    return shown_->FileSeries(measure);
  }
  // The files that are shown in turn with the model, by their paths, and which one is shown.
  static constexpr int kModelDocument = -1;
  QStringList documents() const;
  int shown_document() const;
  // Index into documents(), or kModelDocument.
  void ShowDocument(int index);
  void CloseDocument(int index);
  // Reads another sample of the file; a newer choice supersedes a waiting one. No effect where the
  // file has no samples.
  void ChooseSample(const SampleChoice& choice);
  // Scans samples of the task; record(Side::kA, kScanRecord) fills up while it goes on. It gives
  // way to every other request and goes on after it; Cancel stops it. No effect unless ready().
  void Scan(const ScanRequest& request);
  // Searches the open model for channels that carry position, on text and examples of its own;
  // record(Side::kA, kChannelSearchRecord) and kChannelValidationRecord have what it finds. It
  // gives way as a scan does. No effect unless ready().
  void SearchChannels(const ChannelSearchRequest& request);
  // Ranks the channels of the shown prompt under A: record(Side::kA, kPromptChannelsRecord), which
  // goes with the prompt. `options` as ChannelSearchRequest::options. No effect unless ready().
  void RankPromptChannels(const std::string& options);
  // Generates text after the shown prompt, under A, and under B where that differs:
  // record(side, kGenerationRecord), which grows token by token. It runs before means over samples,
  // gives way to all other requests, and then starts again under the setting of that time. No
  // effect unless ready().
  void Generate(int64_t new_tokens);
  void StopGenerating();
  // The user's notes, which go with the prompt into saved results.
  void SetNotes(const std::string& notes);
  const std::string& notes() const { return notes_; }
  // Names of settings, and which of them are drawn. Lives as long as the session.
  SettingMarks* marks() const { return marks_; }
  // A published line drawn with the outcome (data/published/published_record.h); nullopt: none.
  void SetReference(std::optional<Record> reference);

  // The view on the screen: the model's, or a file's.
  const SessionView& shown() const { return *shown_; }
  // The model's view: the requests to the engine, also while a file is shown.
  const SessionView& live() const { return live_; }
  // Records of the shown file; empty for a model's.
  const std::vector<Record>& file_records() const { return shown_->file_records; }
  // Whether a file is shown, with samples or without.
  bool shows_file() const { return shown_->is_file; }
  // The file's samples; null where it has none, or a model's records are shown.
  const SampleView* sample_view() const;
  SampleChoice sample_choice() const;
  // Reading time of the shown sample.
  double sample_milliseconds() const;
  // The task of the shown records, with all parameters where it is known: "kv:pairs=10"; "" for own
  // text.
  const std::string& task() const { return shown_->task; }
  // The open model; nullopt where a file is shown.
  const std::optional<ModelSummary>& model() const { return shown_->model; }
  const Provenance& provenance() const { return shown_->provenance; }
  const std::vector<Record>& prompts() const { return shown_->prompts; }
  // The request of the prompts on the screen; nullopt: no prompts of a model are shown.
  const std::optional<PromptRequest>& shown_prompt_request() const {
    return shown_->prompt_request;
  }
  // The newest request, also while its prompts are awaited; nullopt: none was made.
  const std::optional<PromptRequest>& newest_prompt_request() const { return prompt_request_; }
  // Whether a model is being opened.
  bool opening() const { return opening_; }
  const Record* prompt() const { return shown_->prompt(); }
  size_t place() const { return shown_->place; }
  int64_t channel() const { return shown_->channel; }
  int64_t samples() const { return samples_; }
  const std::string& probe_options() const { return probe_options_; }
  // The requested setting, or the file's. Records have the setting that made them as attributes
  // (probes/base/record_origin.h, gui/session/record_name.h).
  const Intervention& setting(Side side) const { return shown_->state(side).setting; }
  // Whether a scan runs, or waits for other requests.
  bool scans() const;
  // Whether text is generated, or waits for other requests.
  bool generates() const;
  // Whether a search for channels runs, or waits for other requests.
  bool searches() const;
  // Whether a model and its prompts are on the screen. Runs that are requested while the engine
  // makes other prompts follow those.
  bool ready() const { return !shows_file() && HasPrompts(); }
  // Whether SetPlace has an effect: not while other prompts are awaited.
  bool may_change_place() const { return !shows_file() && EngineReady(); }
  // By record name (probes/engine/engine.h); null where it has not arrived, or B equals A.
  const Record* record(Side side, const std::string& name) const {
    return shown_->Find(side, name);
  }
  // As above, for another place of the shown prompts (an index into them) under the requested
  // setting, where that was on the screen and is cached; for the shown place record(). Null: not
  // known. Valid until the session changes.
  const Record* RecordAt(Side side, const std::string& name, size_t place) const;
  // The names of all records that have arrived, sorted; without those of channels.
  std::vector<std::string> record_names(Side side) const { return shown_->RecordNames(side); }
  // Whether the record is of the requested setting, the shown prompt and the open model. For a
  // file's records: always true.
  bool IsRequested(Side side, const Record& record) const;
  // Whether panels mark the record as older than the request. While a slider is dragged, records of
  // the newest what-if, or part of one, are a step behind and are not marked.
  bool ShownAsOlder(Side side, const Record& record) const;
  // Whether a slider is being dragged: pictures follow each other, so they are drawn fast.
  bool dragging() const { return dragging_; }
  // Whether the capture run of the side's setting is complete.
  bool settled(Side side) const { return shown_->state(side).settled; }
  // Whether what-ifs include the score map and hidden channels, so that these update while a slider
  // is dragged.
  bool follows(Side side) const { return shown_->state(side).follows; }
  // For a file: whether it has records of B.
  bool differs() const { return shown_->differs(); }
  // SessionView's functions of these names.
  std::optional<Means> MeansOf(Side side, Measure measure) const {
    return shown_->MeansOf(side, measure);
  }
  std::optional<Means> MeansOfSetting(const std::string& text, Measure measure) const {
    return live_.MeansOfSetting(text, measure);
  }
  std::optional<Means> DifferenceOfMeans() const { return shown_->DifferenceOfMeans(); }
  // The records to store: those of the requested settings, under their own names. Others are listed
  // in `left_out`, one line per setting.
  struct ScreenRecords {
    std::vector<Record> records;
    QStringList left_out;
  };
  ScreenRecords RecordsOnScreen() const;

  // Whether replies are awaited or the release delay is running.
  bool has_pending_request() const { return !pending_.empty() || release_timer_.isActive(); }

  // Emits Changed now if anything has changed since the last emission. For code that reads panels
  // or plots directly after a change. Changes that receivers make are emitted in the next turn.
  Q_INVOKABLE void FlushChanges();

  EngineWorker& worker() { return worker_; }
  // Time without a change after which means (and missing capture runs) are requested.
  void SetReleaseDelay(int milliseconds) { release_timer_.setInterval(milliseconds); }
  // Time without a change during a drag after which capture runs are requested.
  void SetPauseDelay(int milliseconds) { pause_timer_.setInterval(milliseconds); }

 Q_SIGNALS:
  // The shown data have changed since the last emission. Emitted by a queued call, so that changes
  // of one turn of the event loop are one emission, and before Stopped.
  void Changed(midscope::Changes changes);
  // `what` describes the running request, other than what-ifs; empty: none.
  void BusyChanged(const QString& what);
  void Progressed(const midscope::Progress& progress);
  void Previewed(const midscope::PromptPreview& preview);
  void WhatIfTimed(const midscope::WhatIfCost& cost);
  // `what` failed, a word for the kind of run; empty: nothing that could be repeated.
  void Failed(const QString& why, const QString& what = QString());
  // Emitted after Failed with the same `why`, where a device failed that another one may replace.
  // `request`: which opens the model, or was to open it.
  void DeviceFailed(const QString& why, const midscope::OpenRequest& request);
  // A run of that kind is complete: earlier errors of it are past.
  void Succeeded(const QString& what);
  // No request has a reply outstanding. Changed was emitted for all replies; changes
  // that its receivers made are emitted in the next turn.
  void Stopped();

 private:
  bool HasPrompts() const { return live_.model && !opening_ && !live_.prompts.empty(); }
  // Whether the engine has the prompts of the model's view, and is not making others.
  bool EngineReady() const { return HasPrompts() && !Awaits(RequestKind::kPrompt); }
  // EngineReady, for a change that the user made: where it returns false, Resume posts its requests
  // when the engine is ready.
  bool MayPost();
  // IsRequested of the model's view.
  bool LiveRequests(Side side, const Record& record) const;
  quint64 Post(EngineRequest request, Side side = Side::kA);
  void PostPrompt();
  // Whether the side's outcome is there, of the requested setting and all places.
  bool HasOutcome(Side side) const;
  void KeepView();
  void RecallView();
  void RequestCaptureRun(Side side);
  void RepeatCaptureRuns();
  void RequestWhatIf(Side side);
  // Runs that the means of A and B require.
  struct MissingMeans {
    CompareRequest request;
    std::vector<std::string> asking;  // texts of its settings
    int64_t runs = 0;                 // of a sample at all places under one setting
  };
  MissingMeans FindMissingMeans() const;
  bool MeansMayStart(const MissingMeans& missing) const;
  double SecondsOf(const MissingMeans& missing) const;
  void RequestMeans();
  // Records the seconds of a sample at all places under one setting; `whole`: measured, not taken
  // from one place. Requests the means that waited for it.
  void NoteCost(double seconds, bool whole);
  void ForgetMeans();
  bool MeansRun() const { return means_ticket_ != 0 && pending_.count(means_ticket_) > 0; }
  void RequestEverything();
  void PostScan();
  void PauseScan();
  void StopScan();
  void ContinueBackground();
  void DropScan();
  void PostGeneration();
  void PauseGeneration();
  void OnGenerate(const EngineReply& reply);
  bool GenerationMayRun() const;
  void PostSearch();
  void PauseSearch();
  void StopSearch();
  void DropChannels();
  void DropPromptChannels();
  void TakeChannels(const EngineReply& reply);
  // Requests missing prompts or records, after a model or prompts that were awaited did not come.
  void Resume();
  bool AnyOlder() const;
  // Whether a request of that kind has no reply yet.
  bool Awaits(RequestKind kind) const;
  void CollectSide(Side side, ScreenRecords& screen) const;
  void CollectMeans(std::vector<Record>& records) const;
  void OnPaused();
  void OnReleased();
  // Returns true where the records on the screen are replaced.
  bool ChangeSide(Side side, const SideView& next, bool dragging);
  // Adds to the next emission of Changed.
  void Mark(Changes changes);
  // As above, for state that only the model's view has.
  void MarkLive(Changes changes);

  void OnReply(const EngineWorker::ReplyPointer& reply);
  void OnPartial(quint64 ticket, const EngineWorker::RecordPointer& record);
  void OnWhatIfPart(const EngineWorker::ReplyPointer& part);
  void OnFailed(const EngineReply& reply);
  // A model or prompts failed or were cancelled: the engine keeps its previous state, which is on
  // the screen.
  void OnNotTaken();
  void OnOpen(const EngineReply& reply);
  void OnPrompt(const EngineReply& reply);
  void OnCaptureRun(const EngineReply& reply);
  void OnWhatIf(const EngineReply& reply);
  void OnMeans(const EngineReply& reply);
  void OnScan(const EngineReply& reply);
  void OnChannelSearch(const EngineReply& reply);
  void StoreMeans(const std::shared_ptr<const Record>& record, bool complete);
  bool HasOtherChannel(const SideView& side, const Record& record) const;
  // Takes records of the shown place from a what-if.
  void TakeOfPlace(const EngineReply& reply, SideView& side);
  void UpdateBusy();
  void CancelMeans();
  void CancelEverything();
  void OnSample(const SampleReader::ReplyPointer& reply);

  SettingMarks* marks_;
  SessionView live_;
  std::vector<std::unique_ptr<SessionView>> files_;
  SessionView* shown_ = &live_;
  std::optional<OpenRequest> opened_;  // by which the open model was opened
  std::optional<PromptRequest> prompt_request_;
  bool prompt_request_waits_ = false;    // for the model that is being opened
  bool prompt_request_is_own_ = false;   // the user's, not the model's: posted if opening fails too
  std::optional<size_t> place_of_next_;  // of the prompts that are awaited; nullopt: as usual
  KeptViews kept_views_;
  bool opening_ = false;         // a model is being opened; the view's is the previous one
  bool show_when_open_ = false;  // a file is shown until then
  bool stopped_ = false;         // cancelled since the last request
  bool dragging_ = false;        // a slider is being dragged
  bool place_chosen_ = false;
  int64_t wanted_channel_ = kFirstChannel;  // a narrower model shows its last channel
  int64_t samples_ = kUsualSamples;
  std::string probe_options_ = "{}";
  std::string notes_;
  bool means_wanted_ = true;
  bool means_start_automatically_ = true;
  std::vector<std::string> running_means_;  // settings of the running comparison
  std::set<std::string> started_means_;     // settings whose means the user started
  std::optional<double> sample_seconds_;    // NoteCost's
  bool sample_seconds_whole_ = false;
  std::optional<ScanRequest> scan_request_;             // of the last scan of these prompts
  quint64 scan_ticket_ = 0;                             // of the scan that is posted; 0: none
  bool scan_waits_ = false;                             // for other requests
  std::optional<ChannelSearchRequest> search_request_;  // of the last search in this model
  quint64 search_ticket_ = 0;                           // as scan_ticket_
  bool search_waits_ = false;
  struct Generation {
    quint64 ticket = 0;  // as scan_ticket_
    bool waits = false;
  };
  std::map<Side, Generation> generation_;
  int64_t new_tokens_ = GenerateRequest::kUsualTokens;
  quint64 means_ticket_ = 0;
  quint64 last_ticket_ = 0;
  quint64 valid_from_ = 0;  // replies to older tickets are of a previous prompt
  struct Pending {
    RequestKind kind = RequestKind::kOpen;
    Side side = Side::kA;
  };
  std::map<quint64, Pending> pending_;
  QString busy_;
  Changes changes_;  // not emitted yet; an emission is queued unless empty
  QTimer pause_timer_;
  QTimer release_timer_;
  EngineWorker worker_;
  std::unique_ptr<NewestRequest<PromptRequest>> previews_;  // last: its thread uses worker_
};

}  // namespace midscope
