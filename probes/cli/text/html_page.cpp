// SPDX-License-Identifier: MIT
#include "probes/cli/text/html_page.h"

#include <algorithm>
#include <cstdint>
#include <sstream>

#include <fmt/format.h>

#include "probes/cli/console/output.h"

namespace midscope::cli {
namespace {

// The page's Content-Security-Policy makes browsers load no address, even if one is inserted later.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
)";

constexpr const char* kStyle = R"(<style>
:root { --text: #1b1f24; --quiet: #57606a; --back: #ffffff; --band: #f4f6f8; --line: #d0d7de; --mark: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ec; --quiet: #a2abb5; --back: #16191d; --band: #20252b; --line: #3b434c; --mark: #7ab8f5; }
}
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; color: var(--text); background: var(--back);
  font: 1rem/1.5 system-ui, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin-top: 1.75rem; }
h4 { font-size: 1rem; margin-bottom: 0.25rem; }
p { margin: 0.4rem 0; max-width: 65rem; }
a { color: var(--mark); }
.answer { border-left: 0.25rem solid var(--mark); padding: 0.15rem 0 0.15rem 0.75rem; font-weight: 600; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; padding: 0 0 0.35rem 0.4rem; }
th, td { padding: 0.2rem 0.75rem 0.2rem 0.4rem; text-align: left; vertical-align: top; font-weight: 400; }
thead th { font-weight: 600; border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:nth-child(even) { background: var(--band); }
th.n, td.n { text-align: right; white-space: nowrap; }
.facts th { white-space: nowrap; color: var(--quiet); }
.facts td { overflow-wrap: anywhere; }
pre { background: var(--band); border: 1px solid var(--line); padding: 0.6rem 0.8rem; white-space: pre-wrap;
  font: 0.85rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
figure { margin: 1.25rem 0; }
img { max-width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line); }
figcaption { color: var(--quiet); font-size: 0.9rem; }
@media print {
  :root { --text: #000000; --quiet: #333333; --back: #ffffff; --band: #ffffff; --line: #999999; --mark: #000000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  h2, h3, h4, caption { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  thead { display: table-header-group; }
}
</style>
)";

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr size_t kGroup = 3;
  constexpr uint32_t kDigitBits = 6;
  constexpr uint32_t kByteBits = 8;
  constexpr uint32_t kDigitMask = 63;
  std::string text;
  for (size_t begin = 0; begin < bytes.size(); begin += kGroup) {
    const std::string_view group = bytes.substr(begin, kGroup);
    uint32_t bits = 0;
    for (size_t i = 0; i < kGroup; ++i) {
      bits = (bits << kByteBits) | (i < group.size() ? static_cast<uint8_t>(group[i]) : 0U);
    }
    for (size_t digit = 0; digit <= kGroup; ++digit) {
      const auto shift = static_cast<uint32_t>(kGroup - digit) * kDigitBits;
      text += digit <= group.size() ? kDigits[(bits >> shift) & kDigitMask] : '=';
    }
  }
  return text;
}

// Calls visit for every line that is not empty.
template <typename Visit>
void ForEachLine(const std::string& lines, Visit&& visit) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) visit(line);
  }
}

std::string CellElement(const std::string& tag, const std::string& text, bool number) {
  const std::string name = tag.substr(0, tag.find(' '));
  return fmt::format("<{}{}>{}</{}>", tag, number ? " class=\"n\"" : "", HtmlText(text), name);
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string escaped;
  for (const char c : TerminalText(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

HtmlPage::HtmlPage(const std::string& title) : title_(title) {
  body_ = fmt::format("<h1>{}</h1>\n", HtmlText(title));
}

void HtmlPage::Heading(int level, const std::string& text, const std::string& id) {
  body_ +=
      fmt::format("<h{}{}>{}</h{}>\n", level,
                  id.empty() ? "" : fmt::format(" id=\"{}\"", HtmlText(id)), HtmlText(text), level);
}

void HtmlPage::Contents(const std::vector<std::pair<std::string, std::string>>& headings) {
  body_ += "<nav aria-label=\"Contents\"><ul>\n";
  for (const auto& [text, id] : headings) {
    body_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", HtmlText(id), HtmlText(text));
  }
  body_ += "</ul></nav>\n";
}

void HtmlPage::Lines(const std::string& lines) {
  ForEachLine(
      lines, [&](const std::string& line) { body_ += fmt::format("<p>{}</p>\n", HtmlText(line)); });
}

void HtmlPage::Answers(const std::string& lines) {
  ForEachLine(lines, [&](const std::string& line) {
    body_ += fmt::format("<p class=\"answer\">{}</p>\n", HtmlText(line));
  });
}

void HtmlPage::Facts(const std::string& caption,
                     const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ +=
      fmt::format("<div class=\"wide\"><table class=\"facts\">\n<caption>{}</caption>\n<tbody>\n",
                  HtmlText(caption));
  for (const auto& [name, value] : facts) {
    body_ += "<tr>" + CellElement("th scope=\"row\"", name, false) +
             CellElement("td", value, false) + "</tr>\n";
  }
  body_ += "</tbody>\n</table></div>\n";
}

void HtmlPage::Table(const std::string& caption, const TextTable& table) {
  std::vector<bool> numbers;
  for (size_t column = 0; column < table.rows().front().size(); ++column)
    numbers.push_back(table.IsNumeric(column));
  body_ += fmt::format("<div class=\"wide\"><table>\n<caption>{}</caption>\n", HtmlText(caption));
  for (size_t row = 0; row < table.rows().size(); ++row) {
    if (row == 0) body_ += "<thead>\n";
    if (row == 1) body_ += "<tbody>\n";
    body_ += "<tr>";
    for (size_t column = 0; column < table.rows()[row].size(); ++column) {
      const char* tag = row == 0 ? "th scope=\"col\"" : column == 0 ? "th scope=\"row\"" : "td";
      body_ += CellElement(tag, table.rows()[row][column], numbers[column]);
    }
    body_ += "</tr>\n";
    if (row == 0) body_ += "</thead>\n";
  }
  if (table.rows().size() > 1) body_ += "</tbody>\n";
  body_ += "</table></div>\n";
}

void HtmlPage::Add(const Printout& printout) {
  for (const Printout::Block& block : printout.blocks()) {
    if (block.table) {
      Table(block.caption, *block.table);
      continue;
    }
    bool in_list = false;
    ForEachLine(block.lines, [&](const std::string& line) {
      const bool item = line.starts_with("  ");
      if (item != in_list) body_ += item ? "<ul>\n" : "</ul>\n";
      in_list = item;
      const std::string text =
          HtmlText(line.substr(std::min(line.find_first_not_of(' '), line.size())));
      body_ += item ? "<li>" + text + "</li>\n" : "<p>" + text + "</p>\n";
    });
    if (in_list) body_ += "</ul>\n";
  }
}

void HtmlPage::Preformatted(const std::string& text) {
  body_ += fmt::format("<pre>{}</pre>\n", HtmlText(text));
}

void HtmlPage::Picture(const std::string& caption, std::string_view svg) {
  const std::string text = HtmlText(caption);
  body_ += fmt::format(
      "<figure><img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\"/>\n<figcaption>{}</figcaption>"
      "</figure>\n",
      text, Base64(svg), text);
}

std::string HtmlPage::Text() const {
  return fmt::format("{}<title>{}</title>\n{}</head>\n<body>\n{}</body>\n</html>\n", kHead,
                     HtmlText(title_), kStyle, body_);
}

}  // namespace midscope::cli
