# SPDX-License-Identifier: MIT
"""check_parquet.py SCRIPT FOLDER: data/python/parquet_to_jsonl.py on files that pyarrow wrote. 77 without pyarrow."""
import datetime
import json
import pathlib
import subprocess
import sys

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    print("skipped: this Python has no pyarrow")
    sys.exit(77)

script, folder = sys.argv[1], pathlib.Path(sys.argv[2])
inner = folder / "in" / "test"
inner.mkdir(parents=True, exist_ok=True)
rows = [{"question": f"wo? {i} é", "choices": {"text": ["a", "b"], "label": [0, i]}, "bytes": b"12" if i else None,
         "when": datetime.date(2020, 1, 2)} for i in range(3000)]
pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), inner / "a.parquet")


def run(*arguments):
    return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True)


out = folder / "out"
for old in out.glob("*"):
    old.unlink()
done = run(folder / "in", "--out", out)
assert done.returncode == 0 and "3000 rows" in done.stdout, done
lines = [json.loads(line) for line in open(out / "a.jsonl", encoding="utf-8")]
assert len(lines) == 3000 and lines[7] == {"question": "wo? 7 é", "choices": {"text": ["a", "b"], "label": [0, 7]},
                                           "bytes": "MTI=", "when": "2020-01-02"}, lines[7]
assert lines[0]["bytes"] is None
again = run(folder / "in", "--out", out)
assert again.returncode == 0 and "already" in again.stderr, again
damaged = folder / "damaged.parquet"
damaged.write_bytes(b"PAR1" + bytes(40))
failed = run(damaged, "--out", out)
assert failed.returncode == 1 and "damaged.parquet" in failed.stderr and "Traceback" not in failed.stderr, failed
assert not list(out.glob("damaged*")), "half a file was left"
empty = run(out)
assert empty.returncode == 1 and "no file" in empty.stderr, empty
