#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes JSON lines of Parquet files, which tasks of Midscope read.

    python3 parquet_to_jsonl.py FILE_OR_FOLDER... [--out FOLDER]

FILE.parquet becomes FILE.jsonl beside it, or in --out; a folder stands for all its *.parquet, also in folders below. A
row is a line with the columns as fields. Files that are there already are left alone unless --overwrite is given. Needs
pyarrow. Large files are read a batch of rows at a time.
"""
import argparse
import base64
import datetime
import decimal
import json
import pathlib
import sys


def plain(value):
    """What JSON has no kind for, as text: bytes in base64, times in ISO 8601."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    raise TypeError(f"a value of the type {type(value).__name__} has no form in JSON")


def convert(source, target, rows_at_once=1024):
    import pyarrow.parquet

    part = target.with_name(target.name + ".part")
    rows = 0
    with pyarrow.parquet.ParquetFile(source) as table, open(part, "w", encoding="utf-8") as lines:
        for batch in table.iter_batches(batch_size=rows_at_once):
            for row in batch.to_pylist():
                lines.write(json.dumps(row, ensure_ascii=False, default=plain) + "\n")
                rows += 1
    part.rename(target)
    return rows


def sources(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.parquet"))
        else:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the new files (default: beside the old ones)")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    arguments = parser.parse_args()
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        sys.exit("parquet_to_jsonl.py: pyarrow is missing. Install it: python3 -m pip install pyarrow")
    found = list(sources(arguments.paths))
    if not found:
        sys.exit("parquet_to_jsonl.py: no file *.parquet there")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
    failed = False
    for source in found:
        target = (arguments.out or source.parent) / (source.stem + ".jsonl")
        if target.exists() and not arguments.overwrite:
            print(f"{target} is there already", file=sys.stderr)
            continue
        try:
            print(f"{target}: {convert(source, target)} rows")
        except (OSError, ValueError, TypeError, pyarrow.ArrowException) as error:
            print(f"parquet_to_jsonl.py: {source}: {error}", file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
