// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the Help menu, one entry each in the list in help_pages.cpp. What they say of
// actions, panels and terms comes from the lists of these.
#pragma once

#include <QString>
#include <vector>

namespace midscope {

class ActionRegistry;

// What a page may tell.
struct HelpContext {
  const ActionRegistry* actions = nullptr;
  QString model;  // one line for each fact of the open model; "": none is open
};

struct HelpPage {
  QString id;     // "first-look": its action is "help-first-look"
  QString title;  // "&First look"
  QString help;
  QString (*html)(const HelpContext& context) = nullptr;
};

const std::vector<HelpPage>& HelpPages();

}  // namespace midscope
