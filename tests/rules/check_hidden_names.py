# SPDX-License-Identifier: MIT
"""No function that is local to a source has the name and the kinds of parameters of one that a header declares. Sources are
compiled in groups (midscope_group), whose file-local functions share one unnamed namespace: there, such a function would take
the calls of all sources of its group that mean the header's, without a word from the compiler."""
import collections
import pathlib
import re
import sys

ROOMS = ("core", "data", "gui", "probes")
# core/terms, model/families and positions have a namespace for each source.
OWN = re.compile(r"core/(terms|model/families|positions)/")
LOCAL = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(
    r"^(?:\[\[\w+\]\] |constexpr |inline |static |template <[^{};]*?>\s*)*(?:const )?[A-Za-z_][\w:]*(?:<[^;{}()]*>)?[ *&]+(\w+)"
    r"\(([^;{}]*?)\)(?: noexcept)?\s*[;{]", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(u?int\d*(_t)?|size_t|double|float|bool|qsizetype)")
TEXT = re.compile(r"(std::string|std::string_view|char\*)")


def kinds(parameters):
    """What each parameter takes; numbers convert to each other, and so do texts."""
    bare, depth = "", 0
    for letter in parameters:
        depth += (letter in "<({") - (letter in ">)}")
        bare += ";" if letter == "," and not depth else letter
    found = []
    for parameter in filter(None, (part.split("=")[0].strip() for part in bare.split(";"))):
        kind = re.sub(r"[ ]\w+$|(?<=[&*>])\w+$", "", parameter)
        kind = kind.replace("const ", "").replace("&", "").replace(" ", "")
        element = re.fullmatch(r"std::(?:span|vector)<(?:const)?(.*)>", kind)
        if element:
            kind = "several " + ("numbers" if NUMBER.fullmatch(element[1]) else element[1])
        found.append("number" if NUMBER.fullmatch(kind) else "text" if TEXT.fullmatch(kind) else kind)
    return found


root = pathlib.Path(sys.argv[1])
declared = collections.defaultdict(list)  # by name: the header and the kinds of its parameters
for room in ROOMS:
    for path in sorted((root / room).rglob("*.h")):
        text = re.sub(r"//.*", "", path.read_text())
        if "namespace midscope::hdf5" in text:
            continue
        for name, parameters in FUNCTION.findall(text):
            declared[name].append((path.relative_to(root), kinds(parameters)))
problems, seen = [], 0
for room in ROOMS:
    for path in sorted((root / room).rglob("*.cpp")):
        if OWN.match(str(path.relative_to(root))):
            continue
        for block in LOCAL.findall(path.read_text()):
            for name, parameters in FUNCTION.findall(re.sub(r"//.*", "", block)):
                seen += 1
                for header, of_header in declared[name]:
                    meant = header.parts[0] in ("core", "data") or header.parts[0] == room
                    if meant and kinds(parameters) == of_header:
                        problems.append(f"{path.relative_to(root)}: {name}({parameters}) hides that of {header}")
assert seen > 1000, f"only {seen} local functions found"
print("\n".join(problems) or f"{seen} local functions hide none of a header")
sys.exit(bool(problems))
