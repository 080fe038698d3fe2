// SPDX-License-Identifier: GPL-3.0-or-later
// The state behind the panels: a model, a prompt request, two settings A and B with their records,
// and results files that can be shown instead of the model (gui/session/session_view.h). Requests
// missing records from the engine, those that matter most on the screen first. Uses no widgets.
//
// All changes of what is shown are reported by one signal, Changed, with a flag per kind of change;
// changes in one turn of the event loop are combined into one emission. Receivers read the state
// from the session.
//
// A new setting is answered by a what-if at once; it includes the score map and the hidden channel
// if all layers are cached. Capture runs (all other records) follow when a dragged slider pauses,
// and means over samples when it is released.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "gui/base/newest_reply.h"
#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "gui/session/changes.h"
#include "gui/session/engine_worker.h"
#include "gui/session/session_view.h"
#include "gui/session/setting_marks.h"

namespace midscope {

// The attribute of a saved record `prompt` that holds the user's notes.
inline constexpr char kNotesAttribute[] = "notes";
// Attributes of attention(side) that is not of the last query: the token's number and its text.
inline constexpr char kQueryRow[] = "query_row";
inline constexpr char kQueryToken[] = "query_token";

// The prompts that a request would make, one per place, or the reason why it fails.
struct PromptPreview {
  PromptRequest request;
  std::vector<Record> prompts;
  QString failure;
};

class Session : public QObject {
  Q_OBJECT

 public:
  // Results files are read and made by `link`'s process. Null: there are none, in tests.
  explicit Session(std::shared_ptr<Engine> engine, std::shared_ptr<EngineLink> link = nullptr,
                   QObject* parent = nullptr);

  // Opens another model. The records on the screen remain until it is open, and also if opening
  // fails. `prompt_request`: the prompt to run then; if omitted, the previous one.
  void Open(const OpenRequest& request, std::optional<PromptRequest> prompt_request = std::nullopt);
  // Opens a second model for B, in an engine of its own: B is then that model under setting B, on
  // the texts of A's prompts. Replaces the second model once the new one is open.
  void OpenSecond(const OpenRequest& request);
  // B is a setting of the first model again.
  void CloseSecond();
  // The session of the second model, whose side A is this session's B; nullptr if there is none.
  const Session* second() const { return second_.get(); }
  // The request that opened, or is to open, the model; nullopt: there was none. After a failed or
  // cancelled opening, the request of the model that is still open; if none is, the last request.
  const std::optional<OpenRequest>& open_request() const { return asked_; }
  // Sets what makes the engine of a second model. Default: another process of the same command.
  using EngineMaker = std::function<std::shared_ptr<Engine>()>;
  void SetSecondEngine(EngineMaker make) { make_second_ = std::move(make); }
  // Opens the last model anew, with its prompt and settings, after the engine's process has ended.
  void Restart();
  // If no model is open, the request is stored until one is. If this prompt was shown with the
  // current settings before, its records are restored without a run, unless it is on the screen
  // now.
  void SetPrompt(const PromptRequest& prompt_request);
  // Requests the prompt and shows the place (an index into its prompts); runs nothing if the
  // prompts are already shown.
  void RestorePrompt(const PromptRequest& prompt_request, size_t place);
  // `dragging`: whether a slider is being dragged; capture runs and means are then postponed.
  void SetSettings(const Intervention& a, const Intervention& b, bool dragging);
  // `place`: index into the prompts of the prompt request. By default, the middle one is shown.
  void SetPlace(size_t place);
  // Sets the place (index into the prompts) to show for the next prompt request.
  void PreferPlace(size_t place) {
    live_.place = place;
    place_chosen_ = true;
  }
  static constexpr int64_t kFirstChannel = SessionView::kFirstChannel;
  void SetChannel(int64_t channel);
  static constexpr int64_t kUsualSamples = 20;
  // Sets the number of samples for the means; 0: no means.
  void SetSamples(int64_t samples);
  // Means start automatically if they are expected to take less than this; otherwise StartMeans
  // starts them.
  static constexpr double kMostAutomaticSeconds = 10;
  // Means of A and B that are missing and not started.
  struct MeansOffer {
    int64_t samples = 0;
    double seconds = 0;  // estimated from the runs of the shown prompts; NaN: unknown
    bool operator==(const MeansOffer&) const = default;
  };
  // Returns nullopt if the means exist, are running or start automatically.
  std::optional<MeansOffer> means_offer() const;
  // Whether means were running when the setting changed, and do not run since.
  bool means_stopped() const { return means_stopped_ || (second_ && second_->means_stopped()); }
  // The seconds that a run of one of the shown prompts took; nullopt: unknown.
  std::optional<double> prompt_seconds() const;
  // Whether cheap means start automatically; true by default.
  void SetMeansStartAutomatically(bool start);
  bool means_start_automatically() const { return means_start_automatically_; }
  void StartMeans();
  // If false, requests no means over samples and stops running ones; keeps finished samples.
  void SetMeansWanted(bool wanted);
  // Sets the options of all further capture runs, and repeats the runs of the shown settings with
  // them (CaptureRunRequest::probe_options).
  void SetProbeOptions(const std::string& json);
  // Makes the prompts of a request on a separate thread, in parallel with engine requests, and
  // emits Previewed with them. A newer request supersedes a waiting one.
  void Preview(const PromptRequest& prompt_request);
  // Sets the query whose attention is shown: a token of the shown prompt, counted from 0; nullopt
  // or the last token is the last query. Other queries need a capture run. Applies until another
  // prompt or place is shown.
  void SetQueryRow(std::optional<int64_t> row);
  std::optional<int64_t> query_row() const { return shows_file() ? std::nullopt : query_row_; }
  void Cancel();
  // Shows the records of a file instead of the model's, whose requests continue. If the file has
  // samples, the first one is read asynchronously (Change::kSample). Replaces a file that is
  // already open under the same `path`.
  void ShowFile(const RunFile& file, std::shared_ptr<const RemoteSampleView> samples = nullptr,
                const QString& path = QString());
  // Shows the records of a file, as ShowFile does, from a view made by ViewOfFile.
  void ShowView(std::unique_ptr<SessionView> view, std::shared_ptr<const RemoteSampleView> samples);
  // Means of the shown file, one series per setting.
  const std::vector<OutcomeSeries>& FileSeries(Measure measure) const {
    return shown_->FileSeries(measure);
  }
  // The open files, which can be shown instead of the model, by path, and which one is shown.
  static constexpr int kModelDocument = -1;
  QStringList documents() const;
  int shown_document() const;
  // Index into documents(), or kModelDocument.
  void ShowDocument(int index);
  void CloseDocument(int index);
  // Reads another sample of the file; a newer choice supersedes a waiting one. No effect if the
  // file has no samples.
  void ChooseSample(const SampleChoice& choice);
  // Scans samples of the task; record(Side::kA, kScanRecord) grows during the scan. The scan pauses
  // for every other request and resumes after it; Cancel stops it. No effect unless ready().
  void Scan(const ScanRequest& request);
  // Whether probes of heads are wanted over samples() samples of the task at all places, under A
  // and under B if it differs: record(side, name) of gold_following, position_awareness_by_place
  // and answer_attribution_by_place, which grow sample by sample; new settings are measured as
  // well. Pauses for other requests as a scan does; Cancel ends it.
  void SetSampleProbesWanted(bool wanted);
  bool sample_probes_wanted() const { return sample_probes_wanted_; }
  // Searches the open model for channels that carry position, on its own text and examples. The
  // results are record(Side::kA, kChannelSearchRecord) and kChannelValidationRecord. Pauses for
  // other requests as a scan does. No effect unless ready().
  void SearchChannels(const ChannelSearchRequest& request);
  // Ranks the channels of the shown prompt under A. The result is record(Side::kA,
  // kPromptChannelsRecord), which is dropped with the prompt. `options`: see
  // ChannelSearchRequest::options. No effect unless ready().
  void RankPromptChannels(const std::string& options);
  // Generates text after the shown prompt under A, and also under B if B differs: record(side,
  // kGenerationRecord), which grows token by token. Runs before means over samples. All other
  // requests interrupt it; it then starts again under the settings of that time. No effect unless
  // ready().
  void Generate(int64_t new_tokens);
  void StopGenerating();
  // The user's notes, which are stored with the prompt in saved results.
  void SetNotes(const std::string& notes);
  const std::string& notes() const { return notes_; }
  // Names of settings, and which of them are drawn. Valid as long as the session.
  SettingMarks* marks() const { return marks_; }
  // A published line to draw with the outcome (data/published/published_record.h); nullopt: none.
  void SetReference(std::optional<Record> reference);

  // The view on the screen: the model's or a file's.
  const SessionView& shown() const { return *shown_; }
  // The model's view, also while a file is shown. Requests to the engine are for it.
  const SessionView& live() const { return live_; }
  // Records of the shown file; empty if the model is shown.
  const std::vector<Record>& file_records() const { return shown_->file_records; }
  // Whether a file is shown, with or without samples.
  bool shows_file() const { return shown_->is_file; }
  // The shown file's samples; nullptr if it has none or the model is shown.
  const RemoteSampleView* sample_view() const;
  SampleChoice sample_choice() const;
  // Milliseconds that reading the shown sample took.
  double sample_milliseconds() const;
  // The task of the shown records, with all parameters if these are known: "kv:pairs=10"; "" for
  // own text.
  const std::string& task() const { return shown_->task; }
  // The open model; nullopt if a file is shown.
  const std::optional<ModelSummary>& model() const { return shown_->model; }
  // The open model of a side (B may be a second model); nullopt if a file is shown.
  const std::optional<ModelSummary>& model(Side side) const {
    return (side == Side::kB && shown_->second ? shown_->second : shown_)->model;
  }
  // The shown prompt as the model of a side has it; nullptr if there is none.
  const Record* prompt(Side side) const {
    return (side == Side::kB && shown_->second ? shown_->second : shown_)->prompt();
  }
  const Provenance& provenance() const { return shown_->provenance; }
  const std::vector<Record>& prompts() const { return shown_->prompts; }
  // The request that made the prompts on the screen; nullopt if no prompts of a model are shown.
  const std::optional<PromptRequest>& shown_prompt_request() const {
    return shown_->prompt_request;
  }
  // The newest request, even if its prompts have not arrived; nullopt if there was none.
  const std::optional<PromptRequest>& newest_prompt_request() const { return prompt_request_; }
  // Whether a model is being opened.
  bool opening() const { return opening_; }
  const Record* prompt() const { return shown_->prompt(); }
  size_t place() const { return shown_->place; }
  int64_t channel() const { return shown_->channel; }
  int64_t samples() const { return samples_; }
  const std::string& probe_options() const { return probe_options_; }
  // The requested setting, or that of the file. The setting that made a record is in the record's
  // attributes (probes/base/record_origin.h, gui/session/record_name.h).
  const Intervention& setting(Side side) const { return shown_->state(side).setting; }
  // Whether a scan is running, or waits for other requests.
  bool scans() const { return scan_.runs(); }
  // Whether text is being generated, or the generation waits for other requests.
  bool generates() const;
  // Whether a search for channels is running, or waits for other requests.
  bool searches() const { return search_.runs(); }
  // Whether a model and its prompts are on the screen. Runs requested while the engine makes other
  // prompts are postponed until these exist.
  bool ready() const { return !shows_file() && HasPrompts(); }
  // Whether SetPlace has an effect: false while other prompts are awaited.
  bool may_change_place() const { return !shows_file() && EngineReady(); }
  // Finds a record by name (probes/engine/engine.h); nullptr if it has not arrived, or if B equals
  // A.
  const Record* record(Side side, const std::string& name) const {
    return shown_->Find(side, name);
  }
  // Finds a record by name for a place (an index into the shown prompts) under the requested
  // setting, if it was shown before and is cached. For the shown place, equals record(). Returns
  // nullptr if there is none. Valid until the session changes.
  const Record* RecordAt(Side side, const std::string& name, size_t place) const;
  // The attention of the shown query, with array last_query_attention [layer, head, key]; nullptr
  // if it has not arrived. Attributes kQueryRow and kQueryToken unless it is the last query.
  const Record* attention(Side side) const;
  // The sorted names of all records that have arrived, except those of channel searches.
  std::vector<std::string> record_names(Side side) const { return shown_->RecordNames(side); }
  // Whether the record belongs to the requested setting, the shown prompt and the open model.
  // Always true for a file's records.
  bool IsRequested(Side side, const Record& record) const;
  // Whether panels mark the record as older than the request. While a slider is dragged, the
  // records of the newest what-if (or of part of it) lag one step behind and are not marked.
  bool ShownAsOlder(Side side, const Record& record) const;
  // Whether a slider is being dragged. Panels then draw fast, because new data arrive continuously.
  bool dragging() const { return dragging_; }
  // Whether the side's capture run is complete for its setting.
  bool settled(Side side) const { return shown_->state(side).settled; }
  // Whether what-ifs include the score map and hidden channels, so that these update while a slider
  // is dragged.
  bool follows(Side side) const { return shown_->state(side).follows; }
  // Whether B differs from A; for a file, whether it has records of B.
  bool differs() const { return shown_->differs(); }
  // See the functions of the same names in SessionView.
  std::optional<Means> MeansOf(Side side, Measure measure) const {
    return shown_->MeansOf(side, measure);
  }
  std::optional<Means> MeansOfSetting(const std::string& text, Measure measure) const {
    return live_.MeansOfSetting(text, measure);
  }
  std::optional<Means> DifferenceOfMeans() const { return shown_->DifferenceOfMeans(); }
  // The records to save: those of the requested settings, under their own names. Others are listed
  // in `left_out`, one line per setting.
  struct ScreenRecords {
    std::vector<Record> records;
    QStringList left_out;
  };
  ScreenRecords RecordsOnScreen() const;

  // Whether a reply is awaited or the release delay is running.
  bool has_pending_request() const {
    return !pending_.empty() || release_timer_.isActive() ||
           (second_ && second_->has_pending_request());
  }

  // Emits Changed now if anything has changed since the last emission, for code that reads panels
  // or plots directly after a change. Changes made by receivers are emitted in the next turn of the
  // event loop.
  Q_INVOKABLE void FlushChanges();

  EngineWorker& worker() { return worker_; }
  const ResultFiles& files_of_engine() const { return files_of_engine_; }
  // Sets the time without a change after which means (and missing capture runs) are requested.
  void SetReleaseDelay(int milliseconds) {
    release_timer_.setInterval(milliseconds);
    if (second_) second_->SetReleaseDelay(milliseconds);
  }
  // Sets the time without a change, during a drag, after which capture runs are requested.
  void SetPauseDelay(int milliseconds) {
    pause_timer_.setInterval(milliseconds);
    if (second_) second_->SetPauseDelay(milliseconds);
  }

 Q_SIGNALS:
  // The shown data have changed since the last emission. Emitted by a queued call, so that the
  // changes of one turn of the event loop are combined; always emitted before Stopped.
  void Changed(midscope::Changes changes);
  // `what` describes the running request, except what-ifs; "" if none runs.
  void BusyChanged(const QString& what);
  void Progressed(const midscope::Progress& progress);
  void Previewed(const midscope::PromptPreview& preview);
  void WhatIfTimed(const midscope::WhatIfCost& cost);
  // A request failed. `what`: a word for the kind of run; "" if the run cannot be repeated.
  void Failed(const QString& why, const QString& what = QString());
  // Emitted after Failed with the same `why`, if the device failed and another device may work.
  // `request`: the request that opened the model, or failed to open it.
  void DeviceFailed(const QString& why, const midscope::OpenRequest& request);
  // Emitted after Failed with the same `why`, once, if the engine's process has ended by itself.
  void EngineEnded(const QString& why);
  // A run of that kind is complete, so earlier errors of that kind are obsolete.
  void Succeeded(const QString& what);
  // All requests have been answered. Changed has been emitted for all replies; changes that its
  // receivers made are emitted in the next turn of the event loop.
  void Stopped();

 private:
  // Whether this engine runs setting B.
  bool RunsB() const { return !second_ && live_.differs(); }
  void WireSecond();
  // Passes the texts of the prompts to the second model.
  void GivePrompts();
  // Drops the prompts with their records.
  void ForgetPrompts();
  void ShowBusy();
  void OnSecondStopped();
  std::optional<MeansOffer> OwnMeansOffer() const;
  bool HasPrompts() const { return live_.model && !opening_ && !live_.prompts.empty(); }
  // Whether the engine has the prompts of the model's view and is not making others.
  bool EngineReady() const { return HasPrompts() && !Awaits(RequestKind::kPrompt); }
  // EngineReady, for use after a change by the user: if it returns false, Resume posts the missing
  // requests when the engine is ready.
  bool MayPost();
  // Whether the model's view (not a file's) currently requests the record.
  bool LiveRequests(Side side, const Record& record) const;
  quint64 Post(EngineRequest request, Side side = Side::kA);
  void PostPrompt();
  // Whether the side's outcome has arrived, for the requested setting and all places.
  bool HasOutcome(Side side) const;
  void KeepView();
  void RecallView();
  void RequestCaptureRun(Side side);
  std::string AskedProbeOptions() const;
  void TakeQueryRow(SideView& side) const;
  void RepeatCaptureRuns();
  void RequestWhatIf(Side side);
  // The runs that are needed for the means of A and B.
  struct MissingMeans {
    CompareRequest request;
    std::vector<std::string> asking;  // texts of its settings
    int64_t runs = 0;                 // of one sample at all places under one setting
  };
  MissingMeans FindMissingMeans() const;
  bool MeansMayStart(const MissingMeans& missing) const;
  double SecondsOf(const MissingMeans& missing) const;
  void RequestMeans();
  // Records the cost of one sample at all places under one setting; `whole`: measured, not
  // extrapolated from one place. Requests the means that waited for this estimate.
  void NoteCost(double seconds, bool whole);
  void ForgetMeans();
  bool MeansRun() const { return means_ticket_ != 0 && pending_.count(means_ticket_) > 0; }
  void RequestEverything();
  // Work that pauses for every other request.
  struct Background {
    RequestKind kind;
    Change change;                         // of its records, or whether it runs
    std::optional<EngineRequest> request;  // the last one of these prompts, or of this model
    quint64 ticket = 0;                    // of the posted request; 0: none
    bool waits = false;                    // until other requests are done
    bool runs() const { return waits || ticket != 0; }
  };
  void PostWork(Background& work);
  void PauseWork(Background& work);
  void StopWork(Background& work);
  void StartWork(Background& work, EngineRequest request);
  void ContinueBackground();
  void DropScan();
  void PostSampleProbes();
  void PauseSampleProbes();
  void OnSampleProbes(const EngineReply& reply);
  void PostGeneration();
  void PauseGeneration();
  void OnGenerate(const EngineReply& reply);
  bool GenerationMayRun() const;
  void DropChannels();
  void DropPromptChannels();
  void TakeChannels(const EngineReply& reply);
  // Requests missing prompts or records after an awaited model or prompt failed to arrive.
  void Resume();
  bool AnyOlder() const;
  // Whether a request of the given kind still awaits its reply.
  bool Awaits(RequestKind kind) const;
  void CollectSide(Side side, ScreenRecords& screen) const;
  void CollectMeans(std::vector<Record>& records) const;
  void OnPaused();
  void OnReleased();
  // Returns true if the records on the screen are replaced.
  bool ChangeSide(Side side, const SideView& next, bool dragging);
  // Adds flags to the next emission of Changed.
  void Mark(Changes changes);
  // Adds flags to the next emission of Changed if the model's view, not a file, is shown.
  void MarkLive(Changes changes);

  void OnReply(const EngineWorker::ReplyPointer& reply);
  void OnPartial(quint64 ticket, const EngineWorker::RecordPointer& record);
  void OnWhatIfPart(const EngineWorker::ReplyPointer& part);
  void OnFailed(const EngineReply& reply);
  void OnEngineEnded(const EngineReply& reply);
  // Handles a model or prompt that failed or was cancelled: the engine keeps its previous state,
  // which is on the screen.
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
  // Takes the records of the shown place from a what-if's reply.
  void TakeOfPlace(const EngineReply& reply, SideView& side);
  void UpdateBusy();
  void CancelMeans();
  void CancelEverything();
  void OnSample(const RemoteSampleView* of, const SampleChoice& choice, const ReadSample& read);

  SettingMarks* marks_;
  ResultFiles files_of_engine_;
  SessionView live_;
  std::vector<std::unique_ptr<SessionView>> files_;
  SessionView* shown_ = &live_;
  std::optional<OpenRequest> opened_;  // the request that opened the model
  std::optional<OpenRequest> asked_;   // the newest one
  std::optional<PromptRequest> prompt_request_;
  bool prompt_request_waits_ = false;  // until the model is open
  // Made by the user, not with the model: posted even if opening fails.
  bool prompt_request_is_own_ = false;
  std::optional<size_t> place_of_next_;  // for the awaited prompts; nullopt: default
  KeptViews kept_views_;
  bool engine_ended_ = false;    // until a model is open again
  bool opening_ = false;         // a model is being opened; live_ is of the previous one
  bool show_when_open_ = false;  // a file is shown until the model is open
  bool stopped_ = false;         // cancelled since the last request
  bool dragging_ = false;        // a slider is being dragged
  bool place_chosen_ = false;
  int64_t wanted_channel_ = kFirstChannel;  // requested; a narrower model shows its last channel
  int64_t samples_ = kUsualSamples;
  std::string probe_options_ = "{}";
  std::optional<int64_t> query_row_;  // nullopt: the last query
  std::string notes_;
  bool means_wanted_ = true;
  bool means_start_automatically_ = true;
  std::vector<std::string> running_means_;  // settings of the running comparison
  std::set<std::string> started_means_;     // settings whose means the user started
  std::optional<double> sample_seconds_;    // recorded by NoteCost
  bool sample_seconds_whole_ = false;
  Background scan_{RequestKind::kScan, Change::kScan, {}};
  Background search_{RequestKind::kChannelSearch, Change::kChannels, {}};
  bool sample_probes_wanted_ = false;
  quint64 sample_probes_ticket_ = 0;  // as Background::ticket
  std::string probed_setting_;        // in effect, of that request
  struct Generation {
    quint64 ticket = 0;  // as Background::ticket
    bool waits = false;
  };
  std::map<Side, Generation> generation_;
  int64_t new_tokens_ = GenerateRequest::kUsualTokens;
  quint64 means_ticket_ = 0;
  bool means_stopped_ = false;
  quint64 last_ticket_ = 0;
  quint64 valid_from_ = 0;  // replies with older tickets belong to a previous prompt
  struct Pending {
    RequestKind kind = RequestKind::kOpen;
    Side side = Side::kA;
  };
  std::map<quint64, Pending> pending_;
  QString busy_;                 // of this engine
  QString shown_busy_;           // of either engine
  quint64 watched_what_if_ = 0;  // the oldest that runs; 0: none
  QTimer what_if_timer_;         // runs until that one counts as long
  Changes changes_;              // not yet emitted; if not empty, an emission is queued
  QTimer pause_timer_;
  QTimer release_timer_;
  EngineWorker worker_;
  EngineMaker make_second_;
  std::unique_ptr<Session> second_;
  // Last member: its thread uses worker_.
  std::unique_ptr<NewestReply<PromptRequest, PromptPreview>> previews_;
};

}  // namespace midscope
