// SPDX-License-Identifier: MIT
// A library that needs a function that no library has.
extern "C" {
void FunctionThatNobodyHas();
void CallIt() { FunctionThatNobodyHas(); }
}
