// SPDX-License-Identifier: GPL-3.0-or-later
// The settings that were tried on the shown prompts, newest first, with their outcomes. Up to four
// are kept under the letters C to F and are drawn in the outcome plot beside A and B.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/session/changes.h"

namespace midscope {

class Session;

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
