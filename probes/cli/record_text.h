// SPDX-License-Identifier: MIT
// A record for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/record.h"

namespace midscope::cli {

// How many heads are listed of an array over layers and heads.
inline constexpr size_t kHeadsShown = 10;

// Its name, attributes, a table of the arrays over one short axis, and of every other array its
// shape and, where its numbers are measured (data/store/array_kind.h), mean, least and largest
// value, where that stands, and the `top` largest heads. Ranks that count from 0 are printed
// from 1.
std::string RecordText(const Record& record, size_t top = kHeadsShown);

// One array with all its values: a table of rows and columns, over the axes that have more than one
// place. Of arrays over more than two such axes, or of more than 4,096 elements, what RecordText
// says and how to see a part.
std::string ArrayText(const Record& record, const Array& array, size_t top = kHeadsShown);

// The `top` largest heads of an array over layers and heads, or over them at each place of one
// short axis; "" for other arrays.
std::string LargestHeadsText(const Record& record, const Array& array, size_t top);

}  // namespace midscope::cli
