from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.pipeline.bulk.ranges import Ranges

BOUNDS = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)


@given(st.lists(BOUNDS, max_size=8), BOUNDS)
def test_gaps_are_what_a_set_of_rows_lacks(added, asked):
    ranges, rows = Ranges(), set()
    for first, end in added:
        new = set(range(first, end))
        if new and not new & rows:
            ranges.add(first, end)
            rows |= new
        elif new:
            with pytest.raises(ValueError, match="duplicated"):
                ranges.add(first, end)
    assert ranges.rows == len(rows)
    assert len(ranges) == sum(row - 1 not in rows for row in rows)
    gaps = list(ranges.gaps(*asked))
    assert all(first < end for first, end in gaps)
    missing = [row for first, end in gaps for row in range(first, end)]
    assert missing == [row for row in range(*asked) if row not in rows]
    for row in range(31):
        assert (ranges.after(row) == row) == (row not in rows)
