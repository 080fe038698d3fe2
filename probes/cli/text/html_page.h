// SPDX-License-Identifier: MIT
// Writes an HTML page that is one file: one style sheet, no script, no address outside the page.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/cli/console/text_table.h"

namespace midscope::cli {

// Returns the text with the characters of HTML's syntax escaped, for content and for attributes in
// double quotes. Invisible characters and bytes that are not UTF-8 are escaped as in TerminalText.
std::string HtmlText(std::string_view text);

// Collects the content of an HTML page, in order, with all text escaped. It is also well-formed
// XML.
class HtmlPage {
 public:
  // `title`: title of the page and its first heading.
  explicit HtmlPage(const std::string& title);

  // Adds a heading; 2 is the highest level below the page's own. `id`: target for links from
  // Contents(); "": none.
  void Heading(int level, const std::string& text, const std::string& id = "");
  // Adds links to headings, given as pairs of text and id.
  void Contents(const std::vector<std::pair<std::string, std::string>>& headings);
  // Adds a paragraph for each line.
  void Lines(const std::string& lines);
  // Adds a paragraph for each line, emphasised; used for the answers of a page.
  void Answers(const std::string& lines);
  // Adds a table of names and values, without a header.
  void Facts(const std::string& caption,
             const std::vector<std::pair<std::string, std::string>>& facts);
  // Adds a table; its first column names the rows.
  void Table(const std::string& caption, const TextTable& table);
  // Adds tables and lines; lines that are indented become a list.
  void Add(const Printout& printout);
  // Adds text and keeps its line ends and spaces.
  void Preformatted(const std::string& text);
  // Adds a picture. `svg`: the file's bytes. The picture is shown as an image, so that nothing in
  // the SVG can act on the page.
  void Picture(const std::string& caption, std::string_view svg);

  // Returns the complete page as HTML.
  std::string Text() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace midscope::cli
