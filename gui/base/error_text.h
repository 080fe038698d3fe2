// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong, as text for the screen.
#pragma once

#include <QString>
#include <functional>

namespace midscope {

// Runs `work`; the message of what it throws, "" where it goes well.
QString ErrorText(const std::function<void()>& work);

}  // namespace midscope
