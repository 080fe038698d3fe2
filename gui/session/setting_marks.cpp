// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/setting_marks.h"

#include <QUndoStack>

#include "core/base/json_fields.h"
#include "gui/base/display_text.h"
#include "gui/base/value_step.h"

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

}  // namespace midscope
