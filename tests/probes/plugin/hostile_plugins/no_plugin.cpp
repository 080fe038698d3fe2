// SPDX-License-Identifier: MIT
// A library that is not a plugin.
extern "C" int PluginOfAnotherName() { return 1; }
