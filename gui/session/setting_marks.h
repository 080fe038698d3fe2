// SPDX-License-Identifier: GPL-3.0-or-later
// Names of settings, and which of them are drawn. A name belongs to the text of a setting, not to a
// letter, so it is never shown with numbers of another setting.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/session/changes.h"

class QUndoStack;

namespace midscope {

class JsonFields;
class Session;

class SettingMarks : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Letters A to F.
  static constexpr int kLetters = 6;
  static QString Letter(int index) { return QString(QChar(u'A' + index)); }

  // Returns "" for a setting without a name.
  QString Name(const QString& setting) const;
  // Trims spaces at the ends; an empty name removes the setting's name. Pushes a step if an undo
  // stack is set.
  void SetName(const QString& setting, const QString& name);
  // `stack` must outlive this object.
  void UseUndo(QUndoStack* stack) { stack_ = stack; }
  // The setting's short form: its name, else its text with paths of files reduced to file names.
  QString Shown(const QString& setting) const;
  // Returns "B", or "B “paper”" if the setting has a name.
  QString WithLetter(const QString& letter, const QString& setting) const;

  // Whether the outcome plot draws the setting of that letter: 0 for A to 5 for F.
  bool Draws(int letter) const { return hidden_.count(letter) == 0; }
  void SetDrawn(int letter, bool drawn);
  // Draws only the setting of that letter; if only that one is drawn, draws all again.
  void Solo(int letter);

  // The state as stored in session files; null if nothing is marked.
  nlohmann::json State() const;
  void Restore(const nlohmann::json& state);
  static constexpr const char* kStateKey = "setting_marks";
  // Throws Error if the session's field is not valid input for Restore.
  static void CheckState(const JsonFields& session);

 Q_SIGNALS:
  void Changed();

 private:
  void Write(const QString& setting, const QString& name);

  QUndoStack* stack_ = nullptr;
  std::map<QString, QString> names_;  // by the setting's text
  std::set<int> hidden_;
};

// The settings that were tried on the shown prompts, newest first, with their outcomes. Up to four
// are kept under the letters C to F and are drawn in the outcome plot beside A and B.

struct TriedSetting {
  std::string text;  // printed form
  // For this sample at all places; null: not for these prompts.
  std::shared_ptr<const Record> outcome;
  int kept = -1;  // 0 for C to 3 for F; -1: not kept
};

class TriedSettings : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMostKept = 4;

  explicit TriedSettings(Session* session);

  const std::vector<TriedSetting>& list() const { return list_; }
  // The kept settings, in the order of their letters.
  std::vector<const TriedSetting*> Kept() const;
  // If `keep`, assigns the first free letter to the setting; else removes its letter. Returns false
  // if no letter is free.
  bool Keep(const std::string& text, bool keep);
  // Keeps the setting under that letter (0 for C), even if it was not tried, replacing the one that
  // has the letter. If `text` is "", the letter becomes free.
  void KeepAs(int kept, const std::string& text);
  // The setting kept under the letter; "" if there is none.
  std::string TextOf(int kept) const;
  // The texts of all letters up to the last used one, as a session stores them.
  std::vector<std::string> KeptTexts() const;
  static QString Letter(int kept) { return QString(QChar(u'C' + kept)); }

 Q_SIGNALS:
  void Changed();

 private:
  void Refresh(Changes changes);
  // Finds by the printed form; returns list_.end() if it was not tried.
  std::vector<TriedSetting>::iterator Find(const std::string& text);
  bool Note(const std::string& text, const Record& outcome);

  Session* session_;
  std::vector<TriedSetting> list_;
  std::string prompts_;  // hash of the prompts of the outcomes
};

}  // namespace midscope
