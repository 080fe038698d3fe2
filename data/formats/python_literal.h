// SPDX-License-Identifier: MIT
// Lists and dictionaries that a data set holds as Python prints them. Internal to data/.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The literal as JSON: strings in double quotation marks with JSON's escapes, None, True and False
// as null, true and false. Any other text gives JSON that a parser refuses.
std::string PythonToJson(std::string_view literal);

}  // namespace midscope
