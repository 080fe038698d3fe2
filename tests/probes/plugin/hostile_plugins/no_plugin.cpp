// SPDX-License-Identifier: MIT
// A library, but no plugin.
extern "C" int PluginOfAnotherName() { return 1; }
