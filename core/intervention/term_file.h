// SPDX-License-Identifier: MIT
// A file that a term names: its arguments `file` and `digest`, which a term's own reader reads, as
// the digest is compared once the numbers are known. Internal to core.
//
//   TwoNumbers Read(const TextTerm& term, const TermForm<TwoNumbers>& form) {
//     TwoNumbers value = ReadTermFile(term, ReadTwoNumbers);
//     CheckDigest(term, "numbers", DigestOf(value));
//     return value;
//   }
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/intervention/term_form.h"

namespace midscope {

// `help`: what the file holds, without a full stop at its end; how to quote its name is added.
Parameter DescribedTermFile(const std::string& help);

// As a printed form states it: in quotation marks where it is not one word.
std::string TermFileText(const std::string& file);

// The argument is the member `file`, which the term's own reader sets.
template <typename T>
BoundArgument<T> TermFileArgument(const std::string& help) {
  return {DescribedTermFile(help), [](T&, const TextArgument&, const Parameter&) {},
          [](const T& value, const Parameter&) { return TermFileText(value.file); }};
}

inline constexpr const char* kDigestHelp =
    "Of the numbers in the file, as printed forms state it: a file that has changed since is "
    "refused. Leave it out to take the file as it is.";

// kDigest: the digest of a value's numbers, std::string(const T&).
template <typename T, auto kDigest>
BoundArgument<T> DigestArgument(const std::string& help = kDigestHelp) {
  return {TextParameter("digest", help), [](T&, const TextArgument&, const Parameter&) {},
          [](const T& value, const Parameter&) { return kDigest(value); }};
}

// What `read` makes of the file's name. An Error that it throws becomes one at the name in the
// term.
template <typename Read>
auto ReadTermFile(const TextTerm& term, Read read) {
  const TextAtom& file = OnlyValue(*Find(term, "file"));
  try {
    return read(file.text);
  } catch (const Error& error) {
    throw ErrorAt(file.column, error.what());
  }
}

// Throws Error (usage) where the term states a digest other than `now`. `what`: the numbers' name,
// in the plural.
void CheckDigest(const TextTerm& term, const std::string& what, const std::string& now);

}  // namespace midscope
