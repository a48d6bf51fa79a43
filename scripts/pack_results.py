"""Pack the finished runs of studies: one compressed table a corpus in place of a file a run.

    python scripts/pack_results.py [research/results/studies]           (or: make pack)

The files go when their table was read again and holds the same runs. Prints the runs and size of
each table; exit code 1 when all tables together are larger than 12 MB.
"""

from __future__ import annotations

import sys
from pathlib import Path

from trigner.lab.studies.store import corpora_with_runs, pack_runs

RESULTS = Path(__file__).resolve().parents[1] / "research/results/studies"
MOST_BYTES = 12_000_000


def main(folder: Path = RESULTS) -> int:
    """Pack each corpus of a folder of results; the exit code."""
    total = 0
    for corpus in corpora_with_runs(folder):
        packed = pack_runs(folder, corpus)
        size = packed.path.stat().st_size
        total += size
        print(f"{corpus}: {packed.runs} runs, {packed.added} of them new, {size:,} bytes")
    print(f"together {total:,} bytes")
    if total > MOST_BYTES:
        print(f"error: more than {MOST_BYTES:,} bytes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
