// SPDX-License-Identifier: GPL-3.0-or-later
// The file of the Jacobian lens, which the probe jacobian_lens reads, and `midscope lens`, which
// fits one for the open model, as a separate process.
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <string>

#include "gui/session/changes.h"

class QLineEdit;
class QToolButton;

namespace midscope {

class CommandRow;
class ParameterForm;
class Session;

inline constexpr char kJacobianLensRecord[] = "jacobian_lens";

class LensBar : public QWidget {
  Q_OBJECT

 public:
  LensBar(Session* session, QWidget* parent);

  void Refresh(Changes changes);
  void HideForm();
  // The options of the command, which the panel shows in place of the plot while Fitting.
  ParameterForm* form() const { return form_; }
  CommandRow* row() const { return row_; }
  // Arguments of the command. Throws Error (usage) if no model is open, or if a field cannot be
  // read.
  QStringList Arguments() const;

 Q_SIGNALS:
  // Emitted when the user shows or hides the options of the command.
  void Fitting(bool shown);

 private:
  void MakeForm();
  void FollowModel();
  // Runs the probe with this file, or, if it is "", no longer.
  void Use(const QString& file);
  void Start();
  void OnFinished(const QString& failure, bool stopped);
  void ShowCost();

  Session* session_;
  QLineEdit* file_;
  QToolButton* fit_;
  ParameterForm* form_;
  CommandRow* row_;
  std::string model_;       // that is open
  QString written_;         // the file of the last run
  int64_t passes_ = 0;      // backward passes that the running command has done
  int64_t per_prompt_ = 0;  // of them
};

}  // namespace midscope
