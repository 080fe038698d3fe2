// SPDX-License-Identifier: MIT
#include "probes/base/number_list.h"

#include <charconv>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// Removes a number from the front of `text` and stores it; returns false if there is none.
bool TakeNumber(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::vector<int64_t> ParseNumberList(std::string_view thing, std::string_view text, int64_t minimum,
                                     int64_t maximum, std::string_view or_else) {
  const std::string low = std::to_string(minimum);
  const std::string high = std::to_string(maximum);
  std::string allowed = minimum == maximum ? "Give " + low + ", the only one there is"
                                           : "Give numbers from " + low + " to " + high +
                                                 ", such as " + low + "," + high;
  if (maximum == std::numeric_limits<int64_t>::max())
    allowed = fmt::format("Give integers >= {0}, such as {0},{1}", minimum, minimum + 1);
  if (minimum < maximum) allowed += or_else;
  const auto fail = [&](const std::string& reason) {
    throw UsageError(std::string(thing), reason, allowed);
  };
  std::vector<int64_t> numbers;
  std::set<int64_t> seen;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view item = Trimmed(text.substr(begin, comma - begin), " ");
    begin = comma + 1;
    std::string_view rest = item;
    int64_t first = 0;
    if (!TakeNumber(rest, first)) fail(Quote(item) + " is not a number");
    int64_t last = first;
    if (!rest.empty() && rest.front() == '-') {
      rest.remove_prefix(1);
      if (!TakeNumber(rest, last)) fail(Quote(item) + " is not a range");
    }
    if (!rest.empty()) fail(Quote(item) + " is not a number");
    if (first < minimum || last > maximum || first > maximum) {
      fail(Quote(item) + " is out of range");
    }
    if (last < first) fail(Quote(item) + " runs backwards");
    for (int64_t number = first; number <= last; ++number) {
      if (!seen.insert(number).second) fail(fmt::format("{} occurs twice", number));
      numbers.push_back(number);
    }
  }
  return numbers;
}

}  // namespace midscope
