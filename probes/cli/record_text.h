// SPDX-License-Identifier: MIT
// A record for a terminal.
#pragma once

#include <string>

#include "core/record.h"

namespace midscope::cli {

// Its name, attributes, a table of the arrays over one short axis, and of every other array its
// shape with mean, least and largest value and where that stands.
std::string RecordText(const Record& record);

// One array with all its values: a table of rows and columns, over the axes that have more than one
// place. Of arrays over more than two such axes, or of more than 4,096 elements, what RecordText
// says and how to see a part.
std::string ArrayText(const Record& record, const Array& array);

}  // namespace midscope::cli
