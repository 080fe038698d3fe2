// SPDX-License-Identifier: MIT
// Parses lists and dictionaries that a data set contains in Python's notation. Internal to data/.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// Converts the literal to JSON: strings get double quotation marks and JSON's escapes; None, True
// and False become null, true and false. For any other text, the result is not valid JSON.
std::string PythonToJson(std::string_view literal);

}  // namespace midscope
