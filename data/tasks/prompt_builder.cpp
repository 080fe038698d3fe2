// SPDX-License-Identifier: MIT
#include "data/tasks/prompt_builder.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

namespace {

constexpr uintmax_t kLargestTemplate = uintmax_t{1} << 20;

std::string Braced(const std::string& name) { return "{" + name + "}"; }

// Returns the offset of the first {name} with a name in `names` from `begin` on; npos if none.
size_t FindPlaceholder(const std::string& text, size_t begin, const std::vector<std::string>& names,
                       std::string& found) {
  size_t first = std::string::npos;
  for (const std::string& name : names) {
    const size_t at = text.find(Braced(name), begin);
    if (at >= first) continue;
    first = at;
    found = name;
  }
  return first;
}

// Throws Error if the text has a misspelt placeholder and lacks the correct one; other words in
// braces are literal text.
void CheckMisspelt(const std::string& text, const std::string& thing,
                   const std::vector<std::string>& names) {
  for (size_t at = 0; (at = text.find('{', at)) != std::string::npos; ++at) {
    const size_t end = text.find_first_of("{} \n", at + 1);
    if (end == std::string::npos || text[end] != '}') continue;
    const std::string word = text.substr(at + 1, end - at - 1);
    const std::string meant = NearestWord(LowerCase(std::string_view(word)), names);
    if (meant.empty() || text.find(Braced(meant)) != std::string::npos) continue;
    throw Failure(
        thing, "it has " + Quote(Braced(word)) + ", which is not a known placeholder of a template",
        "Did you mean " + Braced(meant) + "?");
  }
}

}  // namespace

std::vector<TemplatePart> ReadPromptTemplate(const std::string& path,
                                             const std::vector<std::string>& names,
                                             const std::vector<std::string>& required) {
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kLargestTemplate) {
    throw Failure(path, "it is larger than 1 MiB", "Give the template of one prompt");
  }
  std::string text = PlainText(ReadPromptFile(path));
  if (text.ends_with('\n')) text.pop_back();
  return PromptTemplate(text, path, names, required);
}

std::vector<TemplatePart> PromptTemplate(const std::string& text, const std::string& thing,
                                         const std::vector<std::string>& names,
                                         const std::vector<std::string>& required) {
  std::vector<TemplatePart> parts;
  size_t begin = 0;
  std::string name;
  for (size_t at = 0; (at = FindPlaceholder(text, begin, names, name)) != std::string::npos;) {
    if (at > begin) parts.push_back({text.substr(begin, at - begin)});
    parts.push_back({name, true});
    begin = at + Braced(name).size();
  }
  if (begin < text.size()) parts.push_back({text.substr(begin)});
  CheckMisspelt(text, thing, names);
  for (const std::string& wanted : required) {
    const auto count = std::count_if(parts.begin(), parts.end(), [&](const TemplatePart& part) {
      return part.is_placeholder && part.text == wanted;
    });
    if (count != 1) {
      throw Failure(
          thing, fmt::format("it has {} {} times, a template has it once", Braced(wanted), count),
          "midscope help jsonl shows one");
    }
  }
  return parts;
}

}  // namespace midscope
