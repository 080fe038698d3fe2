// SPDX-License-Identifier: MIT
// A library that needs a function that nobody has.
extern "C" {
void FunctionThatNobodyHas();
void CallIt() { FunctionThatNobodyHas(); }
}
