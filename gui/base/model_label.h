// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace midscope {

// The model as the user knows it: the name of its file without the ending, its folder, or the last
// part of a hub's name; `otherwise` where there is none.
QString ModelLabel(const QString& model, const QString& otherwise);

}  // namespace midscope
