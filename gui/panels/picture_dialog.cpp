// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/picture_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/base/display_text.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

PictureDialog::PictureDialog(Plot* plot, int millimetres, QWidget* parent)
    : QDialog(parent), plot_(plot), millimetres_(millimetres) {
  setWindowTitle(tr("Export picture"));
  const PlotPicture picture(*plot, millimetres);
  auto* preview = Named(new QLabel(this), "picture_preview");
  preview->setPixmap(QPixmap::fromImage(picture.Image(logicalDpiX())));
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(preview);
  scroll->setAlignment(Qt::AlignCenter);
  auto* size =
      new QLabel(tr("%1 × %2 mm, shown at this size; text of 8 points; PNG with %3 dots per "
                    "inch, SVG and PDF with text as text")
                     .arg(millimetres)
                     .arg(qRound(picture.millimetres().height()))
                     .arg(kDotsPerInch),
                 this);
  size->setWordWrap(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("Save…"), QDialogButtonBox::AcceptRole);
  auto* box = new QVBoxLayout(this);
  box->addWidget(scroll, 1);
  box->addWidget(size);
  box->addWidget(buttons);
  const QSize frame(2 * scroll->frameWidth() + 2, 2 * scroll->frameWidth() + 2);
  scroll->setMinimumSize((preview->sizeHint() + frame).boundedTo({700, 500}));
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(save, &QPushButton::clicked, this, &PictureDialog::AskAndSave);
}

void PictureDialog::AskAndSave() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Export picture"),
                                                    plot_->file_stem() + QStringLiteral(".svg"),
                                                    tr("Pictures (*.svg *.pdf *.png)"));
  if (path.isEmpty()) return;
  const QString why = ErrorText([&] { Save(path); });
  if (!why.isEmpty()) Q_EMIT Failed(why);
}

void PictureDialog::Save(const QString& path) {
  const QFileInfo file(path);
  WritePlotFiles(*plot_, file.path(), file.completeBaseName(), {file.suffix().toLower()},
                 millimetres_);
  Q_EMIT Written(tr("%1 written, its numbers beside it").arg(path));
  accept();
}

}  // namespace midscope
