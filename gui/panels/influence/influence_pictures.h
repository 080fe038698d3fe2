// SPDX-License-Identifier: GPL-3.0-or-later
// Plots of files of `midscope influence`: gradients along the prompt, on the gold by its place, and
// by layer and token. Several files are compared in one plot.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

class FilePictures;
class LinesPlot;
class RecordPlot;
class ResultFiles;

// Reads the record influence_by_place of a file without its arrays by head, whose maps are drawn
// for one file alone. Throws Error, (failure) also if the file has none.
Record ReadInfluence(const ResultFiles& files, const QString& path);

// The norms of a gradient (kInfluenceKinds) along the prompt, at the embeddings, relative to the
// mean of all tokens: one line per record influence_by_place, over a logarithmic axis; for the
// output's gradient also the closed form of each record that has one. Empty if no record has the
// gradient.
void ShowAlongPrompt(const std::vector<Record>& runs, const std::string& gradient, LinesPlot& plot);

// The norm on the gold, at the embeddings, by its place: one line per record influence_by_place,
// with 95 % intervals over samples; with `relative`, divided by the norm on the distractors. Empty
// if no record has at least two places.
void ShowGold(const std::vector<Record>& runs, const std::string& gradient, bool relative,
              LinesPlot& plot);

// The norms of the first sample and place of a record influence, [layer, token], with the
// attributes sample and place; the record itself if it is of one prompt.
Record FirstPrompt(const Record& influence);

// The norms of such a record. `prompt`: the record with the texts of the tokens; null: they are
// numbered. Empty if the record is null or lacks the gradient.
void ShowLayers(const Record* influence, const std::string& gradient, const Record* prompt,
                RecordPlot& plot);

// Draws these plots of the file and of RenderRequest::reference.
void RenderInfluence(FilePictures& pictures);

}  // namespace midscope
