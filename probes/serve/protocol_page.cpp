// SPDX-License-Identifier: MIT
#include "probes/serve/protocol_page.h"

#include <string_view>

#include <fmt/format.h>

#include "probes/serve/frames.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<uint8_t>(byte));
  }
  return text;
}

std::string Exchange(const Message& message) {
  const std::string packed = PackMessage(message);
  return fmt::format("    {}\n    {}\n\n", message.dump(),
                     Hexadecimal(LengthBytes(packed.size()) + packed));
}

std::string MethodSection(const Method& method) {
  std::string text = fmt::format("### `{}`\n\n{}\n\n", method.name, method.summary);
  if (!method.parameters.empty()) text += "| parameter | type | what it is |\n|---|---|---|\n";
  for (const MethodParameter& parameter : method.parameters) {
    text += fmt::format("| `{}`{} | {} | {} |\n", parameter.name,
                        parameter.required ? " (required)" : "", parameter.type, parameter.help);
  }
  if (!method.parameters.empty()) text += "\n";
  text += "Result: " + method.result + ".";
  if (!method.partial.empty()) text += " Partial results: " + method.partial + ".";
  if (method.runs_beside) text += " Runs beside requests for the model.";
  return text + "\n\n";
}

constexpr const char* kFrames = R"(# The engine protocol

<!-- Made by `midscope serve --protocol`; a test compares. -->

`midscope serve --stdio` answers the requests of one client on its standard input and output. The Python package is
such a client; start the engine on another machine with `ssh HOST midscope serve --stdio`.

## Frames

The engine's first bytes are the line `midscope-engine 1`. A client skips what a login shell prints before it, up to
64 KB. Then both sides send frames: four bytes with the length, least significant first, and as many bytes with one
MessagePack map. A frame has at most {} bytes; a longer one is refused before memory is taken for it. Messages are
nested at most {} deep, and extension types are not used. Everything that libraries print goes to standard error.

## Messages

| from | message | meaning |
|---|---|---|
| client | `{{id, method, params}}` | a request; `id` is an integer, `params` a map that may be left out |
| engine | `{{id, result}}` | its answer |
| engine | `{{id, error: {{thing, reason, remedy, usage}}}}` | it failed; `usage`: it cannot be understood; `cancelled`: it was cancelled. `id` is null if the frame could not be read |
| engine | `{{id, progress: {{stage, done, total, unit}}}}` | how far it is; total 0: unknown |
| engine | `{{id, partial}}` | a part of the result |
| engine | `{{id, log}}`, with `warning` | a note for the user |
| engine | `{{id, question, about}}` | a hook asks; `question` is a number, `about` has `hook` (its index), `point`, `first_row`, `array` |
| client | `{{reply, value}}` or `{{reply, error}}` | the answer to question `reply`: null, an array that replaces the activation, or a text that makes the request fail |
| client | `{{cancel: ID}}` | cancels a request that waits or runs |

Requests for the model run one after the other. A newer `what_if` cancels older ones that wait or run. If the input
ends, the engine cancels what is running and exits.

An array is `{{name, dtype, shape, dims, unit, description, data}}`: `data` has the elements in row-major order,
little-endian, as a binary; dtype is float32, float64, int64 or bool (a byte each), or str with a list of texts. If a
reply has more than 32 MB of arrays, the rest have `handle` and `bytes` in place of `data`: `read_array` returns them in
slices, `release` frees them. A record is `{{name, axes: [{{name, size, unit, labels, values}}], arrays, attributes,
signal}}`; data/SCHEMA.md describes the records.

## An exchange

A client asks who the engine is (JSON, and the frame in hexadecimal digits), and asks for a method that does not exist:

)";

}  // namespace

std::string ProtocolPage() {
  std::string page = fmt::format(kFrames, kLargestFrame, kDeepestMessage);
  page += Exchange({{"id", 1}, {"method", "hello"}});
  page += Exchange({{"id", 2}, {"method", "helo"}});
  page += "The answer to the second:\n\n";
  page += Exchange({{"id", 2},
                    {"error", ErrorMessage(UsageError("method 'helo'", "it is unknown",
                                                      "Did you mean 'hello'?"))}});
  page += "## Methods\n\n";
  for (const Method& method : Methods()) page += MethodSection(method);
  page.pop_back();
  return page;
}

}  // namespace midscope
