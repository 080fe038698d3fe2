#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes dequantise_golden.bin: random blocks of each GGUF type and what the gguf package makes of them; and
code_books_golden.bin: the package's code books one after another, an int8 per element.

Needs the packages gguf and numpy; run it only to renew the files. Layout of the first, little-endian: "MSGOLD01"; then for each type
u32 type, u32 elements, u32 bytes, the bytes, the elements as float32. Scales are ordinary in the first blocks; the last
blocks are random in every byte, so that NaN, infinities and subnormals come up too.
"""
import struct
import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants
from gguf.quants import dequantize

# Type, and where its blocks hold binary16 scales.
TYPES = [("F32", []), ("F16", []), ("BF16", []), ("Q4_0", [0]), ("Q4_1", [0, 2]), ("Q5_0", [0]), ("Q5_1", [0, 2]),
         ("Q8_0", [0]), ("Q2_K", [80, 82]), ("Q3_K", [108]), ("Q4_K", [0, 2]), ("Q5_K", [0, 2]), ("Q6_K", [208]),
         ("IQ4_NL", [0]), ("IQ4_XS", [0]), ("MXFP4", []), ("IQ1_S", [0]), ("IQ1_M", [48]), ("IQ2_XXS", [0]),
         ("IQ2_XS", [0]), ("IQ2_S", [0]), ("IQ3_XXS", [0]), ("IQ3_S", [0]), ("TQ1_0", [52]), ("TQ2_0", [64])]
ELEMENTS = 1024
BOOKS = (quants.IQ1_S, quants.IQ2_XXS, quants.IQ2_XS, quants.IQ2_S, quants.IQ3_XXS, quants.IQ3_S)


def set_scales(name: str, blocks: np.ndarray, offset: int, scales: np.ndarray) -> None:
    if name != "IQ1_M":
        blocks[:, offset:offset + 2] = scales.astype("<f2").view(np.uint8).reshape(-1, 2)
        return
    for nibble in range(4):  # in the highest bits of four 16-bit numbers
        high = (scales.astype("<f2").view("<u2") >> (4 * nibble) & 15) << 4
        blocks[:, offset + 2 * nibble + 1] = blocks[:, offset + 2 * nibble + 1] & 15 | high.astype(np.uint8)


def write_books(target: Path) -> None:
    books = b""
    for kind in BOOKS:
        kind.init_grid()
        # The elements of IQ1 are shifted by an eighth, so that Midscope counts in eighths.
        books += (kind.grid * (8 if kind is quants.IQ1_S else 1)).astype(np.int8).tobytes()
    target.write_bytes(books)


def main() -> None:
    random = np.random.default_rng(20240917)
    parts = [b"MSGOLD01"]
    for name, scales in TYPES:
        kind = GGMLQuantizationType[name]
        block_elements, block_bytes = GGML_QUANT_SIZES[kind]
        blocks = ELEMENTS // block_elements
        data = random.integers(0, 256, (blocks, block_bytes), dtype=np.uint8)
        for offset in scales:
            ordinary = random.normal(0, 0.1, blocks // 2).astype("<f2")
            set_scales(name, data[: len(ordinary)], offset, ordinary)
        if scales:  # one of each special scale, whatever chance has brought
            special = np.array([np.inf, np.nan, 6e-8], dtype="<f2")[: max(1, blocks // 2)]
            set_scales(name, data[-len(special):], scales[0], special)
        raw = data.reshape(1, -1)
        with np.errstate(all="ignore"):
            values = dequantize(raw, kind).astype("<f4").reshape(-1)
        assert values.size == ELEMENTS, name
        parts.append(struct.pack("<III", int(kind), ELEMENTS, raw.size) + raw.tobytes() + values.tobytes())
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "golden" / "dequantise_golden.bin"
    target.write_bytes(b"".join(parts))
    write_books(target.with_name("code_books_golden.bin"))


if __name__ == "__main__":
    main()
