// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of the choices of the argument `rows`: rows of the prompt, then those of the answer;
// filled: changed.
#pragma once

class QComboBox;

namespace midscope {

// Gives a picture to each item whose text is a choice of `rows`: all, answer, last, last:N. The
// item's help describes the picture.
void ShowRowPictures(QComboBox* rows);

}  // namespace midscope
