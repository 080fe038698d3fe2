// SPDX-License-Identifier: GPL-3.0-or-later
// Names of settings, and which of them are drawn. A name belongs to a setting's text, not to a
// letter: it is never shown with numbers of another setting.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

class QUndoStack;

namespace midscope {

class JsonFields;

class SettingMarks : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // A to F.
  static constexpr int kLetters = 6;
  static QString Letter(int index) { return QString(QChar(u'A' + index)); }

  // "" for a setting without a name.
  QString Name(const QString& setting) const;
  // An empty name takes it away; spaces at its ends are removed. A step of the stack, if there is
  // one.
  void SetName(const QString& setting, const QString& name);
  // The stack outlives the use of this object.
  void UseUndo(QUndoStack* stack) { stack_ = stack; }
  // The setting's short form: its name, else its text with the names of files without their
  // folders.
  QString Shown(const QString& setting) const;
  // "B", or "B “paper”" where the setting has a name.
  QString WithLetter(const QString& letter, const QString& setting) const;

  // Whether the outcome draws the setting under that letter: 0 for A to 5 for F.
  bool Draws(int letter) const { return hidden_.count(letter) == 0; }
  void SetDrawn(int letter, bool drawn);
  // Draws that one alone; all again where it is alone.
  void Solo(int letter);

  // In session files; null where nothing is marked.
  nlohmann::json State() const;
  void Restore(const nlohmann::json& state);
  static constexpr const char* kStateKey = "setting_marks";
  // Throws Error where the field is not what Restore takes.
  static void CheckState(const JsonFields& session);

 Q_SIGNALS:
  void Changed();

 private:
  class NameStep;
  void Write(const QString& setting, const QString& name);

  QUndoStack* stack_ = nullptr;
  std::map<QString, QString> names_;  // by the setting's text
  std::set<int> hidden_;
};

}  // namespace midscope
