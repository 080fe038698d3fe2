// SPDX-License-Identifier: GPL-3.0-or-later
// Icons for the choices of the argument `rows`, which show the prompt's rows and then the answer's;
// changed rows are filled.
#pragma once

class QComboBox;

namespace midscope {

// Sets an icon on each item whose text is a choice of `rows`: all, answer, last, last:N. Adds a
// description of the icon to the item's help.
void ShowRowPictures(QComboBox* rows);

}  // namespace midscope
