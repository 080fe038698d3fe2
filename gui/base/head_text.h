// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a head, as in TransformerLens.
#pragma once

#include <QString>

#include "gui/base/view_types.h"

namespace midscope {

// "L12H3".
QString HeadText(HeadId head);

// "L12H3" (also "attn_L12_3"). Throws Error (usage).
HeadId ReadHeadId(const QString& text);

}  // namespace midscope
