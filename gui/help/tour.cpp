// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/help/tour.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

constexpr int kNoteWidth = 330;
constexpr int kGap = 8;

}  // namespace

Tour::Tour(std::vector<TourStep> steps, QWidget* window)
    : QObject(window), steps_(std::move(steps)), window_(window) {
  frame_ = Named(new QFrame(window), "tour_frame");
  frame_->setStyleSheet(
      QStringLiteral("#tour_frame { border: 3px solid #e08a1e; border-radius: 4px; }"));
  frame_->setAttribute(Qt::WA_TransparentForMouseEvents);
  note_ = Named(new QFrame(window), "tour_note");
  note_->setFrameShape(QFrame::StyledPanel);
  note_->setBackgroundRole(QPalette::ToolTipBase);
  note_->setForegroundRole(QPalette::ToolTipText);
  note_->setAutoFillBackground(true);
  note_->setFixedWidth(kNoteWidth);
  text_ = Named(new QLabel(note_), "tour_text");
  text_->setWordWrap(true);
  text_->setForegroundRole(QPalette::ToolTipText);
  auto* end = Named(new QPushButton(tr("End the tour"), note_), "tour_end");
  back_ = Named(new QPushButton(tr("Back"), note_), "tour_back");
  next_ = Named(new QPushButton(note_), "tour_next");
  next_->setDefault(true);
  auto* row = new QHBoxLayout;
  row->addWidget(end);
  row->addStretch(1);
  row->addWidget(back_);
  row->addWidget(next_);
  auto* column = new QVBoxLayout(note_);
  column->addWidget(text_);
  column->addLayout(row);
  connect(end, &QPushButton::clicked, this, &Tour::End);
  connect(back_, &QPushButton::clicked, this, [this] { Show(step_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] { Show(step_ + 1); });
  window->installEventFilter(this);
  End();
}

void Tour::Show(int step) {
  if (step < 0 || step >= static_cast<int>(steps_.size())) return End();
  step_ = step;
  const TourStep& shown = steps_[static_cast<size_t>(step)];
  if (target_) target_->removeEventFilter(this);
  target_ = shown.show();
  if (target_) target_->installEventFilter(this);
  text_->setText(
      QStringLiteral("<p><b>%1</b></p><p>%2</p>")
          .arg(tr("%1 of %2: %3").arg(step + 1).arg(steps_.size()).arg(shown.title), shown.text));
  back_->setEnabled(step > 0);
  next_->setText(step + 1 < static_cast<int>(steps_.size()) ? tr("Next") : tr("Done"));
  frame_->show();
  note_->show();
  Place();
  next_->setFocus();
  // Layouts may still move the target in this turn of the event loop.
  QMetaObject::invokeMethod(this, &Tour::Place, Qt::QueuedConnection);
}

void Tour::End() {
  step_ = -1;
  if (target_) target_->removeEventFilter(this);
  target_ = nullptr;
  frame_->hide();
  note_->hide();
}

// Puts the note beside the target, inside the window.
void Tour::Place() {
  if (!target_) return;
  const QRect at(target_->mapTo(window_, QPoint(0, 0)), target_->size());
  frame_->setGeometry(at.adjusted(-kGap / 2, -kGap / 2, kGap / 2, kGap / 2));
  const int height = note_->layout()->heightForWidth(kNoteWidth);
  note_->resize(kNoteWidth, std::max(height, note_->sizeHint().height()));
  QPoint corner(at.right() + kGap, at.top());
  if (corner.x() + kNoteWidth > window_->width()) corner.setX(at.left() - kNoteWidth - kGap);
  if (corner.x() < 0) {
    corner = QPoint(at.left() + kGap, at.bottom() + kGap);
    if (corner.y() + note_->height() > window_->height()) corner.setY(at.top() + kGap);
  }
  corner.setX(std::clamp(corner.x(), 0, std::max(window_->width() - kNoteWidth, 0)));
  corner.setY(std::clamp(corner.y(), 0, std::max(window_->height() - note_->height(), 0)));
  note_->move(corner);
  frame_->raise();
  note_->raise();
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::Move) Place();
  return QObject::eventFilter(watched, event);
}

}  // namespace midscope
