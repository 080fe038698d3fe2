// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a plot as the picture that will be written, at its size on paper, and writes it.
#pragma once

#include <QDialog>

namespace midscope {

class Plot;

class PictureDialog : public QDialog {
  Q_OBJECT

 public:
  // `millimetres`: width on paper. The plot must outlive the dialog.
  PictureDialog(Plot* plot, int millimetres, QWidget* parent = nullptr);

  // Writes the picture and its numbers as CSV beside it, in the format of the path's ending, and
  // closes the dialog. Throws Error if a file cannot be written.
  void Save(const QString& path);

 Q_SIGNALS:
  // Emitted when the picture was written; `text` is for the status bar.
  void Written(const QString& text);
  void Failed(const QString& why);

 private:
  void AskAndSave();

  Plot* plot_;
  int millimetres_;
};

}  // namespace midscope
