// SPDX-License-Identifier: GPL-3.0-or-later
// Registers the actions of the main window and makes its menus from them. The ids are listed in
// gui/WINDOW_ACTIONS.md; scripts rely on them.
#pragma once

#include <QObject>
#include <QString>
#include <functional>

#include "gui/base/view_types.h"

namespace midscope {

class ActionRegistry;
class HelpWindow;
class MainWindow;
class Panel;
class Tour;
struct PromptFields;

class WindowActions : public QObject {
  Q_OBJECT

 public:
  // The window owns this object.
  explicit WindowActions(MainWindow* window);

 private:
  void AddExport();
  void AddEdit();
  void AddRun();
  void AddView();
  void AddPanels();
  void AddSettings();
  void AddMarks();
  void AddPrompt();
  void AddSelection();
  void AddTokens();
  void AddMap();
  void AddHelp();
  void MakeMenus();
  void ShowHelp(const QString& page);
  void ExportInto(const QString& path, bool overwrite);
  QStringList Places() const;
  HeadId HeadOfModel(const QString& text) const;
  void Pin(HeadId head);
  void ChooseChannel(qint64 channel);
  // Throws Error (usage) if no prompt is shown.
  int64_t LastToken() const;
  void SelectRange(const QString& text);
  void SetRatios(const QString& text);
  void AskPrompt(const QString& name, const std::function<void(PromptFields&)>& change);
  void AppendGenerated();
  void ChooseSample(qint64 sample);
  void StepSample(int step);

  MainWindow* window_;
  ActionRegistry* actions_;
  HelpWindow* help_ = nullptr;   // created on first use
  Tour* tour_ = nullptr;         // as above
  Panel* last_panel_ = nullptr;  // the panel that an action showed or changed last
};

}  // namespace midscope
