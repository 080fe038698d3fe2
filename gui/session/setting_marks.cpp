// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/setting_marks.h"

#include <QUndoStack>
#include <algorithm>

#include "core/base/json_fields.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"

namespace midscope {

QString SettingMarks::Name(const QString& setting) const {
  const auto found = names_.find(setting);
  return found == names_.end() ? QString() : found->second;
}

void SettingMarks::SetName(const QString& setting, const QString& name) {
  const QString trimmed = name.simplified();
  if (setting.isEmpty() || Name(setting) == trimmed) return;
  if (stack_) {
    const QString before = Name(setting);
    stack_->push(new ValueStep<QString>(
        tr("name “%1”").arg(trimmed.isEmpty() ? before : trimmed), before, trimmed,
        [this, setting](const QString& name_now) { Write(setting, name_now); }));
  } else {
    Write(setting, trimmed);
  }
}

void SettingMarks::Write(const QString& setting, const QString& name) {
  if (name.isEmpty()) {
    names_.erase(setting);
  } else {
    names_[setting] = name;
  }
  Q_EMIT Changed();
}

QString SettingMarks::Shown(const QString& setting) const {
  const QString name = Name(setting);
  return name.isEmpty() ? WithoutFolders(setting) : name;
}

QString SettingMarks::WithLetter(const QString& letter, const QString& setting) const {
  const QString name = Name(setting);
  return name.isEmpty() ? letter : tr("%1 “%2”").arg(letter, name);
}

void SettingMarks::SetDrawn(int letter, bool drawn) {
  if (Draws(letter) == drawn) return;
  if (drawn) {
    hidden_.erase(letter);
  } else {
    hidden_.insert(letter);
  }
  Q_EMIT Changed();
}

void SettingMarks::Solo(int letter) {
  std::set<int> others;
  for (int each = 0; each < kLetters; ++each) {
    if (each != letter) others.insert(each);
  }
  hidden_ = hidden_ == others ? std::set<int>() : others;
  Q_EMIT Changed();
}

nlohmann::json SettingMarks::State() const {
  nlohmann::json state;
  for (const auto& [setting, name] : names_)
    state["names"].push_back({{"setting", setting.toStdString()}, {"name", name.toStdString()}});
  for (const int letter : hidden_) state["hidden"].push_back(Letter(letter).toStdString());
  return state;
}

void SettingMarks::CheckState(const JsonFields& session) {
  if (!session.Find(kStateKey)) return;
  const JsonFields marks = session.Inside(kStateKey);
  const auto is_text = [](const nlohmann::json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string();
  };
  if (marks.Find("names")) {
    for (const nlohmann::json& one : marks.Array("names")) {
      if (!is_text(one, "setting") || !is_text(one, "name"))
        marks.Fail("has names that are not {setting, name}");
    }
  }
  if (!marks.Find("hidden")) return;
  for (const nlohmann::json& letter : marks.Array("hidden")) {
    const std::string text = letter.is_string() ? letter.get<std::string>() : std::string();
    if (text.size() != 1 || text[0] < 'A' || text[0] >= 'A' + kLetters)
      marks.Fail("has a hidden setting that is none of A to F");
  }
}

void SettingMarks::Restore(const nlohmann::json& state) {
  names_.clear();
  hidden_.clear();
  const nlohmann::json none = nlohmann::json::array();
  if (state.is_object()) {
    for (const nlohmann::json& one : state.value("names", none)) {
      names_[QString::fromStdString(one["setting"].get<std::string>())] =
          QString::fromStdString(one["name"].get<std::string>());
    }
    for (const nlohmann::json& letter : state.value("hidden", none))
      hidden_.insert(letter.get<std::string>()[0] - 'A');
  }
  Q_EMIT Changed();
}

namespace {

constexpr size_t kMostTried = 200;

}  // namespace

TriedSettings::TriedSettings(Session* session) : QObject(session), session_(session) {
  connect(session, &Session::Changed, this, &TriedSettings::Refresh);
}

std::vector<const TriedSetting*> TriedSettings::Kept() const {
  std::vector<const TriedSetting*> kept;
  for (const TriedSetting& tried : list_) {
    if (tried.kept >= 0) kept.push_back(&tried);
  }
  std::sort(kept.begin(), kept.end(),
            [](const TriedSetting* a, const TriedSetting* b) { return a->kept < b->kept; });
  return kept;
}

std::vector<TriedSetting>::iterator TriedSettings::Find(const std::string& text) {
  return std::find_if(list_.begin(), list_.end(),
                      [&text](const TriedSetting& tried) { return tried.text == text; });
}

bool TriedSettings::Keep(const std::string& text, bool keep) {
  const auto found = Find(text);
  if (found == list_.end()) return false;
  if (!keep) {
    found->kept = -1;
  } else if (found->kept < 0) {
    std::vector<bool> taken(kMostKept, false);
    for (const TriedSetting* other : Kept()) taken[static_cast<size_t>(other->kept)] = true;
    const auto free = std::find(taken.begin(), taken.end(), false);
    if (free == taken.end()) return false;
    found->kept = static_cast<int>(free - taken.begin());
  }
  Q_EMIT Changed();
  return true;
}

void TriedSettings::KeepAs(int kept, const std::string& text) {
  for (TriedSetting& tried : list_) {
    if (tried.kept == kept || tried.text == text) tried.kept = -1;
  }
  if (!text.empty()) {
    auto found = Find(text);
    if (found == list_.end()) found = list_.insert(list_.begin(), TriedSetting{text, nullptr, -1});
    found->kept = kept;
  }
  // Removes settings that were never tried and are no longer kept.
  std::erase_if(list_, [](const TriedSetting& tried) { return tried.kept < 0 && !tried.outcome; });
  Q_EMIT Changed();
}

std::string TriedSettings::TextOf(int kept) const {
  for (const TriedSetting& tried : list_) {
    if (tried.kept == kept) return tried.text;
  }
  return {};
}

std::vector<std::string> TriedSettings::KeptTexts() const {
  std::vector<std::string> texts;
  for (const TriedSetting* kept : Kept()) {
    texts.resize(static_cast<size_t>(kept->kept) + 1);
    texts.back() = kept->text;
  }
  return texts;
}

bool TriedSettings::Note(const std::string& text, const Record& outcome) {
  const auto found = Find(text);
  if (found != list_.end()) {
    const bool same = found->outcome &&
                      SeriesOf(*found->outcome, Measure::kNll) == SeriesOf(outcome, Measure::kNll);
    if (same) return false;
    found->outcome = std::make_shared<Record>(outcome);
    return true;
  }
  list_.insert(list_.begin(), TriedSetting{text, std::make_shared<Record>(outcome), -1});
  if (list_.size() > kMostTried) {
    const auto oldest = std::find_if(list_.rbegin(), list_.rend(),
                                     [](const TriedSetting& tried) { return tried.kept < 0; });
    if (oldest != list_.rend()) list_.erase(std::next(oldest).base());
  }
  return true;
}

// Ignores settings that a slider only passed during a drag.
void TriedSettings::Refresh(Changes changes) {
  if (session_->shows_file()) return;
  bool changed = false;
  const Record* prompt = session_->prompt();
  const std::string prompts = prompt ? AttributeText(*prompt, "subject_hash") : std::string();
  if (changes & (Change::kPrompts | Change::kModel) && prompts != prompts_) {
    prompts_ = prompts;
    std::erase_if(list_, [](const TriedSetting& tried) { return tried.kept < 0; });
    for (TriedSetting& tried : list_) tried.outcome.reset();
    changed = true;
  }
  if (!prompts.empty() && !session_->dragging()) {
    for (const Side side : {Side::kA, Side::kB}) {
      if (side == Side::kB && session_->second()) break;  // the settings of one model are listed
      const Record* outcome = session_->record(side, kOutcomeRecord);
      if (outcome && session_->IsRequested(side, *outcome))
        changed = Note(SettingOf(*outcome).toStdString(), *outcome) || changed;
    }
  }
  if (changed || changes & Change::kMeans) Q_EMIT Changed();
}

}  // namespace midscope
