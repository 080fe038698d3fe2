#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Translates what nvcc made of CUDA kernels, PTX, to C++ that runs on the CPU (ptx_thread.h).

    translate.py OUT_DIRECTORY PARTS FILE.ptx [...]

writes OUT_DIRECTORY/part0.cpp ... and names.cpp, the table of kernels. Each PTX instruction becomes one statement, each register a
variable, each kernel a function. An instruction that is not known here is an error with its line.
"""
import os
import re
import sys

TYPES = {
    "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t",
    "b16": "uint16_t", "u16": "uint16_t", "s16": "int16_t",
    "b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t",
    "b64": "uint64_t", "u64": "uint64_t", "s64": "int64_t",
    "f32": "float", "f64": "double", "pred": "bool",
}
SPECIAL = {
    "%tid.x": "thread.Index()", "%ntid.x": "thread.Threads()",
    "%ctaid.x": "thread.Block().x", "%ctaid.y": "thread.Block().y", "%ctaid.z": "thread.Block().z",
    "%nctaid.x": "thread.Blocks().x", "%nctaid.y": "thread.Blocks().y", "%nctaid.z": "thread.Blocks().z",
}
# Of two operands of the instruction's type.
BINARY = {
    "add": "a + b", "sub": "a - b", "and": "a & b", "or": "a | b", "xor": "a ^ b", "min": "Smaller(a, b)", "max": "Larger(a, b)",
    "div": "a / b", "rem": "a % b", "mul": "a * b", "copysign": "CopySign(a, b)",
}
UNARY = {"neg": "-a", "abs": "Absolute(a)", "not": "Not(a)", "rcp": "1 / a", "sqrt": "std::sqrt(a)", "ex2": "PowerOfTwo(a)"}
COMPARE = {"eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b",
           # Also true where an operand is not a number.
           "ltu": "!(a >= b)", "leu": "!(a > b)", "gtu": "!(a <= b)", "geu": "!(a < b)", "neu": "!(a == b)", "equ": "!(a < b || a > b)"}
BITS = {"lop3": "Logic", "prmt": "Permute", "bfi": "InsertBits"}
ROUND = {"rzi": "std::trunc", "rni": "std::nearbyint", "rmi": "std::floor", "rpi": "std::ceil"}
# What a CPU has no need of.
IGNORED = {"prefetch", "griddepcontrol.launch_dependents"}


# Constant arrays in GPU memory, by name: their alignment and their bytes.
ARRAYS = {}


class Kernel:
    """One .entry: its lines become statements."""

    def __init__(self, name):
        self.name = name
        self.lines = []
        self.declared = []

    # An operand, read as a C++ type.
    def read(self, operand, type_name):
        c_type = TYPES[type_name]
        if operand in SPECIAL:
            return f"static_cast<{c_type}>({SPECIAL[operand]})"
        if operand.startswith("%"):
            return f"As<{c_type}>({operand[1:]})"
        if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", operand):
            return f"As<{c_type}>(FloatOfBits(0x{match[1]}u))"
        if match := re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", operand):
            return f"As<{c_type}>(DoubleOfBits(0x{match[1]}ull))"
        if re.fullmatch(r"-?\d+", operand):
            if c_type == "bool":
                return "true" if int(operand) else "false"
            return f"static_cast<{c_type}>({int(operand) & 0xFFFFFFFFFFFFFFFF}ull)"
        if operand.startswith(self.name + "_param_0"):
            return "reinterpret_cast<uint64_t>(parameters)"
        if operand in ARRAYS:
            return f"reinterpret_cast<uint64_t>({operand})"
        if operand.endswith("shared_memoryE"):
            return f"static_cast<{c_type}>(kSharedBase)"
        raise ValueError(f"operand {operand}")

    def write(self, register, type_name, expression):
        return f"Put({register[1:]}, static_cast<{TYPES[type_name]}>({expression}));"

    # An address in brackets: [base] or [base+offset].
    def address(self, operand):
        match = re.fullmatch(r"\[([^+\]]+)(?:\+(-?\d+))?\]", operand)
        base, offset = match[1], int(match[2] or 0)
        # Registers of shared addresses may have 32 bits.
        start = f"uint64_t{{{base[1:]}}}" if base.startswith("%") else self.read(base, "u64")
        return f"{start} + static_cast<uint64_t>({offset}ll)"

    def memory(self, space, address, type_name, count):
        c_type = TYPES[type_name]
        if space == "shared":
            return f"thread.Shared<{c_type}, {count}>({address})"
        return f"Memory<{c_type}, {count}>({address})"

    def statement(self, opcode, operands, line):
        parts = opcode.split(".")
        name, last = parts[0], parts[-1]
        if opcode in IGNORED or name in IGNORED:
            return ""
        if name == "ret":
            return "return;"
        if name == "bra":
            return f"goto {label(operands[0])};"
        if opcode == "bar.sync":
            return "thread.Barrier();"
        if opcode == "griddepcontrol.wait":
            return "thread.AwaitEarlierWork();"
        if name in ("mov", "cvta"):
            return self.write(operands[0], last, self.read(operands[1], last))
        if name in ("ld", "st"):
            return self.move(name, parts, operands)
        if name == "cvt":
            return self.convert(parts, operands)
        if name == "setp":
            return self.of_two(operands, last, "pred", COMPARE[parts[1]])
        if name == "selp":
            a, b, which = self.read(operands[1], last), self.read(operands[2], last), self.read(operands[3], "pred")
            return self.write(operands[0], last, f"{which} ? {a} : {b}")
        if name in ("shl", "shr"):
            bits = int(last[1:])
            a, by = self.read(operands[1], last), self.read(operands[2], "u32")
            return self.write(operands[0], last, f"Shift{name[-1].upper()}({a}, {by}, {bits})")
        if name == "mul" and parts[1] in ("wide", "hi"):
            wide = f"{last[0]}{2 * int(last[1:])}"
            product = f"static_cast<{TYPES[wide]}>({self.read(operands[1], last)}) * {self.read(operands[2], last)}"
            if parts[1] == "hi":
                return self.write(operands[0], last, f"({product}) >> {last[1:]}")
            return self.write(operands[0], wide, product)
        if name in ("mad", "fma"):
            a, b, c = (self.read(operand, last) for operand in operands[1:4])
            return self.write(operands[0], last, f"{a} * {b} + {c}" if name == "mad" else f"std::fma({a}, {b}, {c})")
        if name in BINARY:
            return self.of_two(operands, last, last, BINARY[name])
        if name in UNARY:
            return f"{{ const {TYPES[last]} a = {self.read(operands[1], last)}; {self.write(operands[0], last, UNARY[name])} }}"
        if name in BITS:
            values = ", ".join(self.read(operand, last if i < 2 else "u32") for i, operand in enumerate(operands[1:]))
            return self.write(operands[0], last, f"{BITS[name]}({values})")
        return self.of_warp(opcode, operands, line)

    def of_two(self, operands, read_as, written_as, expression):
        a, b = self.read(operands[1], read_as), self.read(operands[2], read_as)
        c_type = TYPES[read_as]
        return f"{{ const {c_type} a = {a}; const {c_type} b = {b}; {self.write(operands[0], written_as, expression)} }}"

    def move(self, name, parts, operands):
        space = next((part for part in parts if part in ("shared", "global", "param", "local")), "")
        count = next((int(part[1:]) for part in parts if part in ("v2", "v4")), 1)
        address, values = (operands[1], operands[0]) if name == "ld" else (operands[0], operands[1])
        at = self.memory(space, self.address(address), parts[-1], count)
        registers = vector(values)
        if name == "ld":
            moves = " ".join(self.write(register, parts[-1], f"at[{i}]") for i, register in enumerate(registers))
        else:
            moves = " ".join(f"at[{i}] = {self.read(register, parts[-1])};" for i, register in enumerate(registers))
        return f"{{ {TYPES[parts[-1]]}* at = {at}; {moves} }}"

    def convert(self, parts, operands):
        to, of = parts[-2], parts[-1]
        if to in ("f16x2", "bf16x2"):
            t = "Float16" if to == "f16x2" else "BFloat16"
            return self.write(operands[0], "b32", f"PackPair<{t}>({self.read(operands[2], 'f32')}, {self.read(operands[1], 'f32')})")
        if of == "f16":
            return self.write(operands[0], "f32", f"ToFloat(Float16{{{self.read(operands[1], 'u16')}}})")
        value = self.read(operands[1], of)
        for part in parts[1:-2]:
            if part in ROUND:
                value = f"{ROUND[part]}({value})"
            elif part not in ("rn", "ftz"):
                raise ValueError(f"rounding {part}")
        if to[0] in "su" and of[0] == "f":
            value = f"Whole<{TYPES[to]}>({value})"
        return self.write(operands[0], to, value)

    # Operations of a warp's threads, and copies.
    def of_warp(self, opcode, operands, line):
        if opcode == "shfl.sync.bfly.b32":
            register, found = operands[0].split("|")
            value, mask, clamp, members = (self.read(operand, "u32") for operand in operands[1:5])
            return (f"Put({register[1:]}, thread.ShuffleXor({value}, {mask}, {clamp}, {members}, {line})); "
                    f"Put({found[1:]}, true);")
        if opcode.startswith("mma.sync.aligned.m16n8k16.row.col.f32."):
            t = {"bf16": "BFloat16", "f16": "Float16"}[opcode.split(".")[-2]]
            d, a, b, c = (vector(operand) for operand in operands)
            read = lambda registers, kind: ", ".join(self.read(register, kind) for register in registers)
            written = " ".join(self.write(register, "f32", f"c[{i}]") for i, register in enumerate(d))
            return (f"{{ float c[4] = {{{read(c, 'f32')}}}; const uint32_t a[4] = {{{read(a, 'u32')}}}; "
                    f"const uint32_t b[2] = {{{read(b, 'u32')}}}; thread.Multiply<{t}>(c, a, b); {written} }}")
        if match := re.fullmatch(r"ldmatrix\.sync\.aligned\.m8n8\.x4\.(trans\.)?shared\.b16", opcode):
            written = " ".join(self.write(register, "u32", f"of[{i}]") for i, register in enumerate(vector(operands[0])))
            return (f"{{ uint32_t of[4]; thread.LoadMatrices<{'true' if match[1] else 'false'}>(of, {self.address(operands[1])}); "
                    f"{written} }}")
        if opcode == "cp.async.cg.shared.global":
            return f"thread.CopyAsync({self.address(operands[0])}, {self.address(operands[1])}, {self.read(operands[3], 'u32')});"
        if opcode == "cp.async.wait_all":
            return "thread.AwaitCopies();"
        raise ValueError(f"instruction {opcode}")


def label(name):
    return name.strip().replace("$", "").lstrip("_")


def vector(operand):
    return [part.strip() for part in operand.strip("{}").split(",")] if operand.startswith("{") else [operand]


# At commas outside braces and brackets.
def split_operands(text):
    return [part.strip() for part in re.split(r",(?![^{\[]*[}\]])", text)] if text.strip() else []


def kernels_of(path):
    kernel = None
    for number, line in enumerate(open(path), 1):
        text = line.split("//")[0].strip()
        if match := re.search(r"\.entry (\w+)", text):
            kernel = Kernel(match[1])
        elif match := re.fullmatch(r"\.global \.align (\d+) \.b8 (\w+)\[\d+\] = \{(.*)\};", text):
            ARRAYS[match[2]] = match[1], match[3]
        elif kernel is None or not text or text[0] in "(){" or text.startswith((".param", ".maxntid", ".minnctapersm", ".pragma")):
            continue
        elif text == "}":
            yield kernel
            kernel = None
        elif match := re.fullmatch(r"\.reg \.(\w+)\s+%(\w+)<(\d+)>;", text):
            kernel.declared.append(f"{TYPES[match[1]]} " + ", ".join(f"{match[2]}{i}{{}}" for i in range(1, int(match[3]))) + ";")
        elif match := re.fullmatch(r"(\$\w+):", text):
            kernel.lines.append(f"{label(match[1])}:;")
        elif match := re.fullmatch(r"(?:@(!?)%(\w+)\s+)?([a-z][\w.]*)(?:\s+(.*))?;", text):
            try:
                statement = kernel.statement(match[3], split_operands(match[4] or ""), number)
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(f"{path}:{number}: {text}: {error!r}")
            kernel.lines.append(f"if ({match[1]}{match[2]}) {{ {statement} }}" if match[2] else statement)
        else:
            raise SystemExit(f"{path}:{number}: {text}: not understood")


def main():
    out, parts, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    os.makedirs(out, exist_ok=True)
    kernels = sorted((kernel for path in paths for kernel in kernels_of(path)), key=lambda kernel: -len(kernel.lines))
    header = '#include "tests/kernels/ptx/ptx_thread.h"\n\nnamespace midscope::kernels::cuda::ptx {\n'
    arrays = "".join(f"extern const uint8_t {name}[];\n" for name in ARRAYS)
    for part in range(parts):
        with open(os.path.join(out, f"part{part}.cpp"), "w") as file:
            file.write(header + arrays)
            for number in range(part, len(kernels), parts):
                kernel = kernels[number]
                file.write(f"\n// {kernel.name}\nvoid Kernel{number}(PtxThread& thread, const std::byte* parameters) {{\n")
                file.write("\n".join(kernel.declared + kernel.lines) + "\n}\n")
            file.write("\n}  // namespace midscope::kernels::cuda::ptx\n")
    with open(os.path.join(out, "names.cpp"), "w") as file:
        file.write(header + arrays)
        for name, (align, values) in ARRAYS.items():
            file.write(f"alignas({align}) const uint8_t {name}[] = {{{values}}};\n")
        for number, _ in enumerate(kernels):
            file.write(f"void Kernel{number}(PtxThread&, const std::byte*);\n")
        file.write("std::span<const NamedKernel> NamedKernels() {\n  static const NamedKernel all[] = {\n")
        for number, kernel in enumerate(kernels):
            file.write(f'      {{"{kernel.name}", &Kernel{number}}},\n')
        file.write("  };\n  return all;\n}\n}  // namespace midscope::kernels::cuda::ptx\n")


if __name__ == "__main__":
    main()
