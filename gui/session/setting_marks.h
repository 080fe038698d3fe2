// SPDX-License-Identifier: GPL-3.0-or-later
// Names of settings, and which of them are drawn. A name belongs to the text of a setting, not to a
// letter, so it is never shown with numbers of another setting.
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

}  // namespace midscope
