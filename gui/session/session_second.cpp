// SPDX-License-Identifier: GPL-3.0-or-later
// Session: a second model for B. It is the A of a session of its own, with its own engine; requests
// of side B go to that session, and SessionView reads B's records from its view.

#include <utility>

#include "gui/session/session.h"
#include "gui/session/two_models.h"

namespace midscope {

void Session::OpenSecond(const OpenRequest& request) {
  if (!second_) {
    worker_.Cancel(RequestKind::kCaptureRun, Side::kB);
    worker_.Cancel(RequestKind::kWhatIf, Side::kB);
    CancelMeans();
    StopGenerating();
    second_ = std::make_unique<Session>(make_second_());
    live_.second = &second_->live_;
    WireSecond();
  }
  second_->Open(request);
  second_->ForgetPrompts();
  GivePrompts();
  MarkLive(Change::kModel | Change::kSettings | Change::kMeans | kRecordChanges);
}

void Session::WireSecond() {
  Session* second = second_.get();
  second->SetReleaseDelay(release_timer_.interval());
  second->SetPauseDelay(pause_timer_.interval());
  second->SetMeansWanted(means_wanted_);
  second->SetMeansStartAutomatically(means_start_automatically_);
  second->SetSamples(samples_);
  second->SetChannel(wanted_channel_);
  second->SetProbeOptions(probe_options_);
  second->SetSettings(live_.b.setting, live_.b.setting, false);
  const auto of_b = [](const QString& what) {
    return what.isEmpty() ? what : tr("%1, model of B").arg(what);
  };
  const auto why_b = [](const QString& why) { return tr("Model of B: %1").arg(why); };
  connect(second, &Session::Changed, this, [this](Changes changes) { MarkLive(changes); });
  connect(second, &Session::BusyChanged, this, &Session::ShowBusy);
  connect(second, &Session::Progressed, this, [this](const Progress& progress) {
    if (busy_.isEmpty()) Q_EMIT Progressed(progress);
  });
  connect(second, &Session::Failed, this, [=, this](const QString& why, const QString& what) {
    Q_EMIT Failed(why_b(why), of_b(what));
  });
  connect(second, &Session::Succeeded, this,
          [=, this](const QString& what) { Q_EMIT Succeeded(of_b(what)); });
  connect(second, &Session::EngineEnded, this,
          [=, this](const QString& why) { Q_EMIT EngineEnded(why_b(why)); });
  // Queued, because the second session may be closed then.
  connect(second, &Session::Stopped, this, &Session::OnSecondStopped, Qt::QueuedConnection);
}

// A model that could not be opened leaves no second model, unless its process has ended, which can
// be started again.
void Session::OnSecondStopped() {
  if (!second_) return;
  if (!second_->live_.model && !second_->opening_ && !second_->engine_ended_) CloseSecond();
  if (has_pending_request()) return;
  FlushChanges();
  Q_EMIT Stopped();
}

void Session::CloseSecond() {
  if (!second_) return;
  live_.second = nullptr;
  second_->disconnect(this);
  second_.reset();
  live_.b.DropRecords();
  ShowBusy();
  MarkLive(Change::kModel | Change::kPrompts | Change::kSettings | Change::kMeans |
           Change::kGeneration | kRecordChanges);
  if (EngineReady() && !stopped_ && RunsB()) {
    RequestCaptureRun(Side::kB);
    RequestWhatIf(Side::kB);
  }
  RequestMeans();
}

void Session::GivePrompts() {
  if (!second_ || live_.prompts.empty() || !live_.prompt_request) return;
  PromptRequest request = *live_.prompt_request;
  request.given = GivenTexts(live_.prompts);
  second_->RestorePrompt(request, live_.place);
}

void Session::ForgetPrompts() {
  live_.prompts.clear();
  live_.prompt_request.reset();
  ForgetMeans();
  query_row_.reset();
  for (SideView* side : {&live_.a, &live_.b}) side->DropRecords();
  MarkLive(Change::kPrompts | Change::kMeans | kRecordChanges);
}

void Session::ShowBusy() {
  QString text = busy_;
  if (text.isEmpty() && second_ && !second_->shown_busy_.isEmpty())
    text = tr("Model of B: %1").arg(second_->shown_busy_);
  if (text == std::exchange(shown_busy_, text)) return;
  Q_EMIT BusyChanged(shown_busy_);
}

}  // namespace midscope
