// SPDX-License-Identifier: MIT
// A library that refers to a function that no library defines.
extern "C" {
void FunctionThatNobodyHas();
void CallIt() { FunctionThatNobodyHas(); }
}
