// SPDX-License-Identifier: GPL-3.0-or-later
// Session: records of a file and of its samples.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "core/intervention/intervention_text.h"
#include "data/published/published_record.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"

namespace midscope {
namespace {

constexpr quint64 kNoTicket = ~quint64{0};

// A file of another version may have an unknown term: its plots are still shown.
Intervention SettingOrNone(const std::string& text) {
  try {
    return ParseIntervention(text);
  } catch (const Error&) {
    return {};
  }
}

// From a sweep's plan, or from the prompt record that the window writes; "" for neither.
std::string TaskOf(const RunFile& file) {
  const nlohmann::json plan = nlohmann::json::parse(file.plan_json, nullptr, false);
  if (plan.is_object() && plan.contains("task") && plan["task"].is_string()) return plan["task"];
  const Record* prompt = FindRecord(file.records, kPromptRecord);
  return prompt ? TextAttribute(*prompt, "task").toStdString() : "";
}

}  // namespace

const SampleView* Session::sample_view() const {
  return sample_reader_ ? sample_reader_->view().get() : nullptr;
}

void Session::LeaveFile() {
  file_records_.clear();
  if (!sample_reader_) return;
  sample_reader_.reset();
  Mark(Change::kSampleFile);
}

// Adds a record of a file to the side that panels read it from.
void Session::TakeRecord(const Record& record) {
  const QString text = TextAttribute(record, "intervention");
  if (record.name == kPromptRecord) {
    prompts_.push_back(record);
    a_.Ask(SettingOrNone(text.toStdString()));
    return;
  }
  if (record.name == kPublishedRecord) {
    reference_ = std::make_shared<Record>(record);
    return;
  }
  const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
  SideState& side = is_b ? b_ : a_;
  const bool suffixed = is_b && record.name.ends_with("_b");
  side.records[suffixed ? record.name.substr(0, record.name.size() - 2) : record.name] =
      std::make_shared<Record>(record);
  if (!text.isEmpty()) side.Ask(SettingOrNone(text.toStdString()));
}

void Session::ShowFile(const RunFile& file, std::shared_ptr<const SampleView> samples) {
  CancelEverything();
  DropScan();
  DropChannels();
  LeaveFile();
  valid_from_ = kNoTicket;
  model_.reset();
  opening_ = false;
  provenance_ = file.provenance;
  prompt_request_.reset();
  shown_prompt_request_.reset();
  prompts_.clear();
  means_.clear();
  reference_.reset();
  a_ = SideState{};
  b_ = SideState{};
  file_records_ = file.records;
  task_ = TaskOf(file);
  for (const Record& record : file_records_) TakeRecord(record);
  place_ = 0;
  a_.settled = b_.settled = true;
  if (samples && samples->samples().size > 0) {
    sample_choice_ = {};
    sample_reader_ = std::make_unique<SampleReader>(std::move(samples));
    connect(sample_reader_.get(), &SampleReader::Replied, this, &Session::OnSample,
            Qt::QueuedConnection);
    sample_reader_->Ask(sample_choice_);
  }
  Mark(Change::kModel | Change::kPrompts | Change::kSettings | Change::kReference | Change::kMeans |
       Change::kSampleFile | kRecordChanges);
}

void Session::ChooseSample(const SampleChoice& choice) {
  if (!sample_reader_ || choice == sample_choice_) return;
  sample_choice_ = choice;
  sample_reader_->Ask(choice);
}

void Session::OnSample(const SampleReader::ReplyPointer& reply) {
  if (!sample_reader_ || reply->view != sample_reader_->view()) return;
  if (!(reply->choice == sample_choice_)) return;  // superseded
  if (!reply->failure.isEmpty()) {
    Q_EMIT Failed(reply->failure);
    return;
  }
  sample_milliseconds_ = reply->milliseconds;
  const Intervention before = a_.setting;
  prompts_.clear();
  for (const Record& record : reply->records) TakeRecord(record);
  Mark(Change::kPrompts | Change::kSample | kRecordChanges);
  if (a_.setting != before) Mark(Change::kSettings);
}

void Session::SetReference(std::optional<Record> reference) {
  reference_ = reference ? std::make_shared<Record>(std::move(*reference)) : nullptr;
  Mark(Change::kReference);
}

}  // namespace midscope
