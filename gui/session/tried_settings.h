// SPDX-License-Identifier: GPL-3.0-or-later
// The settings that were tried on the shown prompts, newest first, with their outcome; some are
// kept (C to F), which the outcome draws beside A and B.
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
  std::shared_ptr<const Record>
      outcome;    // of this sample at all places; null: not of these prompts
  int kept = -1;  // 0 for C to 3 for F; -1: not kept
};

class TriedSettings : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMostKept = 4;

  explicit TriedSettings(Session* session);

  const std::vector<TriedSetting>& list() const { return list_; }
  // In the order of their letters.
  std::vector<const TriedSetting*> Kept() const;
  // Gives it the first free letter, or takes its letter away. Returns false where none is free.
  bool Keep(const std::string& text, bool keep);
  // Keeps the setting under that letter (0 for C), whether it was tried or not, in place of the one
  // that has it; "": none is kept under it.
  void KeepAs(int kept, const std::string& text);
  // The setting kept under the letter; "" for none.
  std::string TextOf(int kept) const;
  // Settings of all letters up to the last that has one, as a session stores them.
  std::vector<std::string> KeptTexts() const;
  static QString Letter(int kept) { return QString(QChar(u'C' + kept)); }

 Q_SIGNALS:
  void Changed();

 private:
  void Refresh(Changes changes);
  // By the printed form; list_.end() where it was not tried.
  std::vector<TriedSetting>::iterator Find(const std::string& text);
  bool Note(const std::string& text, const Record& outcome);

  Session* session_;
  std::vector<TriedSetting> list_;
  std::string prompts_;  // hash of what the outcomes are of
};

}  // namespace midscope
