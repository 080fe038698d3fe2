// SPDX-License-Identifier: MIT
#include "core/intervention/term_file.h"

namespace midscope {

Parameter DescribedTermFile(const std::string& help) {
  return FileParameter("file", help +
                                   ". In quotation marks where the name has other characters than "
                                   "letters, digits, - _ . : /");
}

std::string TermFileText(const std::string& file) { return IsWord(file) ? file : '"' + file + '"'; }

void CheckDigest(const TextTerm& term, const std::string& what, const std::string& now) {
  const TextArgument* digest = Find(term, "digest");
  if (!digest || OnlyValue(*digest).text == now) return;
  throw ErrorAt(digest->column,
                "the " + what + " in " + OnlyValue(*Find(term, "file")).text +
                    " are others now: their digest is " + now,
                "Bring the file back, or leave digest out to take it as it is");
}

}  // namespace midscope
