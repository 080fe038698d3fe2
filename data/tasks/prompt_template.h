// SPDX-License-Identifier: MIT
// The text of a prompt with {placeholders}, out of a file.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// A piece of a template: text as it is, or a placeholder.
struct TemplatePart {
  std::string text;  // of a placeholder its name
  bool is_placeholder = false;
};

// The file's text cut at `{name}` for each of the names; other braces are text. One line end at the
// file's end, as editors write it, is left out. Throws Error (failure) that names the file: it
// can't be read, is not UTF-8, larger than 1 MiB, or has not each of `required` exactly once.
std::vector<TemplatePart> ReadPromptTemplate(const std::string& path,
                                             const std::vector<std::string>& names,
                                             const std::vector<std::string>& required);

// The same of a text. `thing`: what it is, for errors.
std::vector<TemplatePart> PromptTemplate(const std::string& text, const std::string& thing,
                                         const std::vector<std::string>& names,
                                         const std::vector<std::string>& required);

}  // namespace midscope
