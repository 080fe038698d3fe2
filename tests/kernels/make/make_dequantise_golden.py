#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes dequantise_golden.bin: random blocks of each GGUF type and what the gguf package makes of them.

Needs the packages gguf and numpy; run it only to renew the file. Layout, little-endian: "MSGOLD01"; then for each type
u32 type, u32 elements, u32 bytes, the bytes, the elements as float32. Scales are ordinary in the first blocks; the last
blocks are random in every byte, so that NaN, infinities and subnormals come up too.
"""
import struct
import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

# Type, and where its blocks hold binary16 scales.
TYPES = [("F32", []), ("F16", []), ("BF16", []), ("Q4_0", [0]), ("Q4_1", [0, 2]), ("Q5_0", [0]), ("Q5_1", [0, 2]),
         ("Q8_0", [0]), ("Q2_K", [80, 82]), ("Q3_K", [108]), ("Q4_K", [0, 2]), ("Q5_K", [0, 2]), ("Q6_K", [208]),
         ("IQ4_NL", [0]), ("IQ4_XS", [0]), ("MXFP4", [])]
ELEMENTS = 1024


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
            data[: len(ordinary), offset:offset + 2] = ordinary.view(np.uint8).reshape(-1, 2)
        if scales:  # one of each special scale, whatever chance has brought
            special = np.array([np.inf, np.nan, 6e-8], dtype="<f2")[: max(1, blocks // 2)]
            data[-len(special):, scales[0]:scales[0] + 2] = special.view(np.uint8).reshape(-1, 2)
        raw = data.reshape(1, -1)
        with np.errstate(all="ignore"):
            values = dequantize(raw, kind).astype("<f4").reshape(-1)
        assert values.size == ELEMENTS, name
        parts.append(struct.pack("<III", int(kind), ELEMENTS, raw.size) + raw.tobytes() + values.tobytes())
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "golden" / "dequantise_golden.bin"
    target.write_bytes(b"".join(parts))


if __name__ == "__main__":
    main()
