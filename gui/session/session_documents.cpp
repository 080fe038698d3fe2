// SPDX-License-Identifier: GPL-3.0-or-later
// Session: files of results beside the model, and their samples.
#include <algorithm>
#include <utility>

#include "gui/session/session.h"

namespace midscope {
namespace {

// What another view changes.
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

void Session::ShowFile(const RunFile& file, std::shared_ptr<const SampleView> samples,
                       const QString& path) {
  ShowView(ViewOfFile(file, path), std::move(samples));
}

void Session::ShowView(std::unique_ptr<SessionView> view,
                       std::shared_ptr<const SampleView> samples) {
  view->channel = wanted_channel_;
  if (samples && samples->samples().size > 0) {
    view->samples.emplace();
    view->samples->reader = std::make_unique<SampleReader>(std::move(samples));
    connect(view->samples->reader.get(), &SampleReader::Replied, this, &Session::OnSample,
            Qt::QueuedConnection);
    view->samples->reader->Ask(view->samples->choice);
  }
  // Without a model, what is asked begins with the file's settings.
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

const SampleView* Session::sample_view() const {
  return shown_->samples ? shown_->samples->reader->view().get() : nullptr;
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

void Session::OnSample(const SampleReader::ReplyPointer& reply) {
  const auto found = std::find_if(files_.begin(), files_.end(), [&reply](const auto& view) {
    return view->samples && view->samples->reader->view() == reply->view;
  });
  if (found == files_.end()) return;  // closed
  SessionView& view = **found;
  if (!(reply->choice == view.samples->choice)) return;  // superseded
  if (!reply->failure.isEmpty()) {
    Q_EMIT Failed(reply->failure);
    return;
  }
  view.samples->milliseconds = reply->milliseconds;
  const Intervention before = view.a.setting;
  view.prompts.clear();
  for (const Record& record : reply->records) view.TakeRecord(record);
  if (&view != shown_) return;
  Mark(Change::kPrompts | Change::kSample | kRecordChanges);
  if (view.a.setting != before) Mark(Change::kSettings);
}

void Session::SetReference(std::optional<Record> reference) {
  shown_->reference = reference ? std::make_shared<Record>(std::move(*reference)) : nullptr;
  Mark(Change::kReference);
}

}  // namespace midscope
