// SPDX-License-Identifier: GPL-3.0-or-later
// The user's preferences, described once: the dialog, the stored values and the next start iterate
// over this list.
#pragma once

#include <QDialog>
#include <QString>
#include <functional>
#include <vector>

#include "core/base/parameter.h"

class QSettings;

namespace midscope {

class MainWindow;
class ParameterForm;

struct Preference {
  Parameter parameter;
  std::function<std::string(const MainWindow&)> read;
  // Takes effect at once.
  std::function<void(MainWindow&, const std::string&)> write;
  // The key under which it is remembered; empty: something else remembers it.
  QString key = {};
};

const std::vector<Preference>& Preferences();

// Applies the stored values; those that cannot be read are left unchanged.
void RestorePreferences(MainWindow& window, const QSettings& stored);
void StorePreferences(const MainWindow& window, QSettings& stored);

// All preferences as a form; each takes effect when it is changed.
class PreferencesDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PreferencesDialog(MainWindow* window);

 private:
  void Apply();

  MainWindow* window_;
  ParameterForm* form_;
};

}  // namespace midscope
