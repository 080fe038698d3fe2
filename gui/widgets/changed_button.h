// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QPushButton;

namespace midscope {

// Draws the button bold and in colour if `changed`: pressing it would change what is shown.
void MarkChanged(QPushButton* button, bool changed);

}  // namespace midscope
