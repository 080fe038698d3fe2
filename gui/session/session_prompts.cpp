// SPDX-License-Identifier: GPL-3.0-or-later
// Session: the prompt, its places, and the cache of prompts and places that were shown before.
#include <QElapsedTimer>
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/tasks/prompt_builder.h"
#include "gui/session/session.h"

namespace midscope {

namespace {

// The task with all its parameters, so that defaults can be read from the text.
std::string TaskOrEmpty(const std::string& task) {
  try {
    return task.empty() ? "" : TaskInFull(task);
  } catch (const Error&) {
    return task;  // a task that only the engine has
  }
}

// Whether scans for both requests use the same prompts.
bool SameScanPrompts(const PromptRequest& a, const PromptRequest& b) {
  return !a.task.empty() && a.task == b.task && a.seed == b.seed && a.places == b.places &&
         a.format == b.format;
}

}  // namespace

void Session::SetPrompt(const PromptRequest& prompt_request) {
  prompt_request_ = prompt_request;
  prompt_request_waits_ = true;
  place_of_next_.reset();
  ShowDocument(kModelDocument);
  prompt_request_is_own_ = opening_;
  stopped_ = false;
  if (live_.model && !opening_) PostPrompt();
}

void Session::RestorePrompt(const PromptRequest& prompt_request, size_t place) {
  const bool there =
      EngineReady() && live_.prompt_request && SamePrompts(*live_.prompt_request, prompt_request);
  if (there) {
    prompt_request_ = prompt_request;
    ShowDocument(kModelDocument);
    SetPlace(place);
    return;
  }
  SetPrompt(prompt_request);
  place_of_next_ = place;
}

void Session::PostPrompt() {
  prompt_request_waits_ = prompt_request_is_own_ = false;
  const bool searched = searches();
  CancelEverything();
  search_.waits = searched;
  valid_from_ = Post(*prompt_request_);
}

bool Session::HasOutcome(Side side) const {
  const Record* outcome = live_.Find(side, kOutcomeRecord);
  return live_.state(side).settled && outcome && LiveRequests(side, *outcome);
}

const Record* Session::RecordAt(Side side, const std::string& name, size_t place) const {
  if (place == shown_->place) {
    const Record* shown = record(side, name);
    return shown && IsRequested(side, *shown) ? shown : nullptr;
  }
  if (shown_ != &live_ || !live_.prompt_request) return nullptr;
  if (side == Side::kB && second_) return second_->RecordAt(Side::kA, name, place);
  const KeptView* kept = kept_views_.Find(*live_.prompt_request, place);
  const SideView* view = kept ? kept->Find(setting(side)) : nullptr;
  if (!view) return nullptr;
  const auto found = view->records.find(name);
  return found == view->records.end() ? nullptr : found->second.get();
}

void Session::KeepView() {
  if (!live_.prompt_request) return;
  KeptView view{*live_.prompt_request,
                live_.place,
                live_.channel,
                probe_options_,
                live_.a,
                live_.b,
                live_.means};
  view.a.settled = HasOutcome(Side::kA);
  view.b.settled = RunsB() && HasOutcome(Side::kB);
  if (view.a.settled || view.b.settled) kept_views_.Keep(std::move(view));
}

// Restores cached records to sides that have none for this place.
void Session::RecallView() {
  if (!live_.prompt_request) return;
  const KeptView* kept = kept_views_.Find(*live_.prompt_request, live_.place);
  if (!kept || kept->channel != live_.channel || kept->probe_options != probe_options_) return;
  for (SideView* side : {&live_.a, &live_.b}) {
    const SideView* known = kept->Find(side->setting);
    if (!known || side->settled) continue;
    // An outcome covers all places, so an existing one is just as new.
    side->records.insert(known->records.begin(), known->records.end());
    side->settled = true;
    side->follows = known->follows;
  }
  live_.means.insert(kept->means.begin(), kept->means.end());
}

void Session::SetPlace(size_t place) {
  if (place_of_next_) place_of_next_ = place;
  const bool other = place < live_.prompts.size() && place != live_.place;
  if (place_of_next_ || !other || !may_change_place()) return;
  KeepView();
  const bool scanned = scans();
  const bool searched = searches();
  const bool outcome_a = HasOutcome(Side::kA);
  const bool outcome_b = HasOutcome(Side::kB);
  live_.place = place;
  place_chosen_ = true;
  CancelEverything();
  scan_.waits = scanned;
  search_.waits = searched;
  DropPromptChannels();
  for (SideView* side : {&live_.a, &live_.b}) {
    // The outcome covers all places; all other records belong to the previous prompt.
    std::erase_if(side->records, [](const auto& entry) { return entry.first != kOutcomeRecord; });
    side->query_attention.reset();
    side->settled = false;
  }
  query_row_.reset();
  RecallView();
  MarkLive(Change::kPrompts | kRecordChanges);
  valid_from_ = last_ticket_ + 1;
  if (!live_.a.settled) RequestCaptureRun(Side::kA);
  if (!outcome_a && !HasOutcome(Side::kA)) RequestWhatIf(Side::kA);
  if (second_) second_->SetPlace(place);
  if (RunsB()) {
    if (!live_.b.settled) RequestCaptureRun(Side::kB);
    if (!outcome_b && !HasOutcome(Side::kB)) RequestWhatIf(Side::kB);
  }
  RequestMeans();
}

void Session::OnPrompt(const EngineReply& reply) {
  const auto& request = std::get<PromptRequest>(reply.request);
  if (!live_.prompt_request || !SameScanPrompts(*live_.prompt_request, request)) DropScan();
  // Repeating the request of the shown prompt runs it again.
  const bool again = live_.prompt_request && SamePrompts(*live_.prompt_request, request);
  const size_t place_before = live_.place;
  if (again) {
    kept_views_.Forget(request);
  } else {
    KeepView();
  }
  live_.prompts = reply.records;
  live_.prompt_request = request;
  // Texts given in the request may have replaced the texts of the task.
  const bool of_task = !request.task.empty() && !live_.prompts.empty() &&
                       !AttributeText(live_.prompts.front(), "task").empty();
  live_.task = of_task || request.given.empty() ? TaskOrEmpty(request.task) : std::string();
  const bool others_follow = Awaits(RequestKind::kPrompt) || Awaits(RequestKind::kOpen);
  if (place_of_next_ && !others_follow) {
    live_.place = *std::exchange(place_of_next_, std::nullopt);
    place_chosen_ = true;
  }
  // Defaults to the middle place, because the loss in the middle is the subject of study.
  if (!place_chosen_ || live_.place >= live_.prompts.size()) live_.place = live_.prompts.size() / 2;
  if (!again || live_.place != place_before) DropPromptChannels();
  if (!again || live_.place != place_before) query_row_.reset();
  for (SideView* side : {&live_.a, &live_.b}) side->DropRecords();
  ForgetMeans();
  RecallView();
  MarkLive(Change::kPrompts | Change::kMeans | kRecordChanges);
  if (second_) second_->ForgetPrompts();
  if (!others_follow) GivePrompts();
  if (!live_.prompts.empty() && !stopped_ && !others_follow) RequestEverything();
}

// Session: results files beside the model, and their samples.

namespace {

// All changes that showing another view causes.
constexpr Changes kViewChanges = Change::kModel | Change::kPrompts | Change::kSettings |
                                 Change::kReference | Change::kMeans | Change::kSampleFile |
                                 Change::kScan | Change::kChannels | Change::kGeneration |
                                 Change::kDocuments | kRecordChanges;

}  // namespace

QStringList Session::documents() const {
  QStringList paths;
  for (const auto& view : files_) paths << view->path;
  return paths;
}

int Session::shown_document() const {
  const auto found = std::find_if(files_.begin(), files_.end(),
                                  [this](const auto& view) { return view.get() == shown_; });
  return found == files_.end() ? kModelDocument : static_cast<int>(found - files_.begin());
}

void Session::ShowFile(const RunFile& file, std::shared_ptr<const RemoteSampleView> samples,
                       const QString& path) {
  ShowView(ViewOfFile(file, path), std::move(samples));
}

void Session::ShowView(std::unique_ptr<SessionView> view,
                       std::shared_ptr<const RemoteSampleView> samples) {
  view->channel = wanted_channel_;
  if (samples && samples->samples().size > 0) {
    FileSamples& of_file = view->samples.emplace();
    of_file.reader = std::make_unique<NewestReply<SampleChoice, ReadSample>>(
        this,
        [samples](const SampleChoice& choice, const JobContext&, const auto& deliver) {
          QElapsedTimer clock;
          clock.start();
          std::vector<Record> records = samples->Read(choice);
          deliver({std::move(records), static_cast<double>(clock.nsecsElapsed()) / 1e6, {}});
        },
        [this, of = samples.get()](const SampleChoice& choice, const ReadSample& read) {
          OnSample(of, choice, read);
        });
    of_file.view = std::move(samples);
    of_file.reader->Ask(of_file.choice);
  }
  // If no model is open, later requests start with the file's settings.
  if (!live_.model) {
    live_.a.Ask(view->a.setting);
    live_.b.Ask(view->b.setting);
  }
  const auto same = std::find_if(files_.begin(), files_.end(),
                                 [&view](const auto& other) { return other->path == view->path; });
  const auto place = same == files_.end() ? files_.insert(same, nullptr) : same;
  shown_ = view.get();
  *place = std::move(view);
  show_when_open_ = false;
  Mark(kViewChanges);
}

void Session::ShowDocument(int index) {
  const bool file = index >= 0 && index < static_cast<int>(files_.size());
  SessionView* view = file ? files_[static_cast<size_t>(index)].get() : &live_;
  show_when_open_ = false;
  if (view == shown_) return;
  shown_ = view;
  Mark(kViewChanges);
}

void Session::CloseDocument(int index) {
  if (index < 0 || index >= static_cast<int>(files_.size())) return;
  const auto closed = files_.begin() + index;
  if (closed->get() == shown_) shown_ = &live_;
  files_.erase(closed);
  Mark(kViewChanges);
}

const RemoteSampleView* Session::sample_view() const {
  return shown_->samples ? shown_->samples->view.get() : nullptr;
}

SampleChoice Session::sample_choice() const {
  return shown_->samples ? shown_->samples->choice : SampleChoice{};
}

double Session::sample_milliseconds() const {
  return shown_->samples ? shown_->samples->milliseconds : 0;
}

void Session::ChooseSample(const SampleChoice& choice) {
  if (!shown_->samples || choice == shown_->samples->choice) return;
  shown_->samples->choice = choice;
  shown_->samples->reader->Ask(choice);
}

void Session::OnSample(const RemoteSampleView* of, const SampleChoice& choice,
                       const ReadSample& read) {
  const auto found = std::find_if(files_.begin(), files_.end(), [of](const auto& view) {
    return view->samples && view->samples->view.get() == of;
  });
  if (found == files_.end()) return;  // the view was closed
  SessionView& view = **found;
  if (!(choice == view.samples->choice)) return;  // superseded
  if (!read.failure.isEmpty()) {
    Q_EMIT Failed(read.failure);
    return;
  }
  view.samples->milliseconds = read.milliseconds;
  const Intervention before = view.a.setting;
  view.prompts.clear();
  for (const Record& record : read.records) view.TakeRecord(record);
  if (&view != shown_) return;
  Mark(Change::kPrompts | Change::kSample | kRecordChanges);
  if (view.a.setting != before) Mark(Change::kSettings);
}

void Session::SetReference(std::optional<Record> reference) {
  shown_->reference = reference ? std::make_shared<Record>(std::move(*reference)) : nullptr;
  Mark(Change::kReference);
}

}  // namespace midscope
