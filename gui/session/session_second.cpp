// SPDX-License-Identifier: GPL-3.0-or-later
// Session: a second model for B. It is side A of a separate session with a separate engine;
// requests of side B go to that session, and SessionView reads B's records from its view.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
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

// Session: the attention of another token of the prompt than the last one. Capture runs bring it as
// record attention_rows.

namespace {

constexpr char kRows[] = "attention_rows";
constexpr char kRowAttention[] = "row_attention";  // [layer, head, row, key]
constexpr char kAttentionAt[] = "attention-at";

// One row of record attention_rows in the form of record last_query_attention; nullptr if the
// record lacks the row.
std::shared_ptr<const Record> AttentionOfRow(const Record& rows, int64_t row,
                                             const QString& token) {
  const int64_t at = AxisIndexOf(rows, "row", static_cast<double>(row));
  const Array* array = rows.FindArray(kRowAttention);
  const auto* all = array ? std::get_if<std::vector<float>>(&array->data) : nullptr;
  if (at < 0 || !all) return nullptr;
  const int64_t count = AxisSize(rows, "row");
  const int64_t keys = AxisSize(rows, "key");
  const int64_t heads = AxisSize(rows, "layer") * AxisSize(rows, "head");
  std::vector<float> weights;
  weights.reserve(static_cast<size_t>(heads * keys));
  for (int64_t head = 0; head < heads; ++head) {
    const auto begin = all->begin() + (head * count + at) * keys;
    weights.insert(weights.end(), begin, begin + keys);
  }
  auto record = std::make_shared<Record>();
  record->name = kLastQueryAttention;
  for (const char* axis : {"layer", "head", "key"}) record->axes.push_back(*rows.FindAxis(axis));
  record->arrays = {{kLastQueryAttention,
                     {"layer", "head", "key"},
                     std::move(weights),
                     "",
                     "attention of one token of the prompt, 0 for keys behind it"}};
  record->attributes = rows.attributes;
  record->attributes[kQueryRow] = row;
  record->attributes[kQueryToken] = token.toStdString();
  return record;
}

}  // namespace

const Record* Session::attention(Side side) const {
  if (!query_row()) return record(side, kLastQueryAttention);
  if (side == Side::kB && !differs()) return nullptr;
  return shown_->state(side).query_attention.get();
}

void Session::SetQueryRow(std::optional<int64_t> row) {
  const Record* shown = live_.prompt();
  const int64_t tokens = shown ? IntegerAttribute(*shown, "prompt_tokens", 0) : 0;
  if (row && (*row < 0 || *row >= tokens - 1)) row.reset();
  if (row == std::exchange(query_row_, row)) return;
  for (SideView* side : {&live_.a, &live_.b}) side->query_attention.reset();
  MarkLive(Change::kWhatIfRecords);
  if (second_) {
    const int64_t of_b = row ? TokenFor(*this, Side::kA, *row, Side::kB) : -1;
    second_->SetQueryRow(of_b < 0 ? std::nullopt : std::optional(of_b));
  }
  if (row) RepeatCaptureRuns();
}

// The options of probes, and the row of the query if another than the last is shown.
std::string Session::AskedProbeOptions() const {
  if (!query_row_) return probe_options_;
  nlohmann::json options = nlohmann::json::parse(probe_options_);
  std::string rows = options.value(kAttentionAt, "");
  if (!rows.empty()) rows += ',';
  options[kAttentionAt] = rows + std::to_string(*query_row_);
  return options.dump();
}

void Session::TakeQueryRow(SideView& side) const {
  const auto rows = side.records.find(kRows);
  const Record* shown = live_.prompt();
  if (!query_row_ || rows == side.records.end() || !shown) return;
  const QStringList tokens = Texts(*shown, "token_text");
  side.query_attention =
      AttentionOfRow(*rows->second, *query_row_, tokens.value(static_cast<qsizetype>(*query_row_)));
}

}  // namespace midscope
