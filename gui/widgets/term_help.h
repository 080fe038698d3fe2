// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace midscope {

// Summary and source of a term, for a tooltip. Throws std::logic_error if there is no such term.
QString TermHelp(const char* term);

}  // namespace midscope
