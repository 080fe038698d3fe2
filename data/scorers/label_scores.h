// SPDX-License-Identifier: MIT
// Scores for answers that are a class, a number or a letter, 0 to 1 each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace midscope {

// LongBench's classes (trec, lsht): 1 / (number of classes that the prediction names) where the
// reference is among them, else 0. A class that is part of the reference does not count as named.
// The public code removes such classes from a list while it iterates over it, and so keeps every
// second one of a run; `as_public_code` does the same.
double ClassScore(std::string_view prediction, std::string_view reference,
                  std::span<const std::string> classes, bool as_public_code = true);

// LongBench's passage retrieval: the share of the prediction's numbers that equal the one in the
// reference's "Paragraph 17" ("段落17" in its Chinese set), as text; 0 without numbers. Throws
// Error (failure) where the reference holds no such number.
double RetrievalScore(std::string_view prediction, std::string_view reference);

// LongBench's counts: the share of the prediction's numbers that equal the reference, as text.
double CountScore(std::string_view prediction, std::string_view reference);

// The runs of digits at either end, without leading zeros; nullopt where there are none. Passkey
// and the lines task as CREAM scores it use the first, LongChat's lines task the last.
std::optional<std::string> FirstInteger(std::string_view text);
std::optional<std::string> LastInteger(std::string_view text);

// 1 where that integer equals the reference's.
double FirstIntegerMatch(std::string_view prediction, std::string_view reference);
double LastIntegerMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' multiple choice (QuALITY): the first of A, B, C, D that is a separate word.
double ChoiceLetterMatch(std::string_view prediction, std::string_view reference);

}  // namespace midscope
