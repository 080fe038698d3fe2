// SPDX-License-Identifier: GPL-3.0-or-later
// The losses of tuning runs as lines over steps: of a running one from its messages, of others from
// the record `tuning` of their files (probes/tuning/tuning_run.h).
#pragma once

#include <QString>
#include <QVector>
#include <vector>

#include "core/base/record.h"

namespace midscope {

class LinesPlot;
class ResultFiles;

// steps, loss and rate have one element per step that is known.
struct TuningLosses {
  QString name;
  QVector<double> steps;
  QVector<double> loss;      // nats
  QVector<double> rate;      // of the optimizer
  QVector<double> held_out;  // before, and after the run; what is not known is left out

  // Adds what a message of a running `midscope tune` says: "step 3/50: loss 3.1, rate 2e-05, ..."
  // or "held-out loss 3.3". Returns false if it is neither.
  bool AddLine(const QString& line);
};

// Reads the record `tuning` of a file. Throws Error, (failure) also if the file has none.
Record ReadTuningRecord(const ResultFiles& files, const QString& path);
// The losses of a record `tuning`. Numbers that it does not have are left out.
TuningLosses LossesOf(const Record& record, const QString& name);
// The displayed name of the run that wrote the file: its folder's for a file tuning.h5.
QString TuningName(const QString& path);

// Draws one line per run; with `rate`, the learning rate, else the loss, and held-out losses: of
// one run as horizontal lines, of several beside their names.
void ShowLosses(const std::vector<TuningLosses>& runs, bool rate, LinesPlot& plot);

}  // namespace midscope
