// SPDX-License-Identifier: GPL-3.0-or-later
// Error messages as text for widgets.
#pragma once

#include <QString>
#include <functional>

namespace midscope {

// Runs `work`. Returns the message of what it throws; "" where it returns.
QString ErrorText(const std::function<void()>& work);

}  // namespace midscope
