from __future__ import annotations

import datetime

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

import pyarrow as pa

from trigner.pipeline.bulk.json_values import holds_bytes, json_columns, json_type


def test_dates_are_strings_wherever_they_are():
    assert json_type(pa.timestamp("ns")) == pa.string()
    assert json_type(pa.list_(pa.date32())) == pa.list_(pa.string())
    assert json_type(pa.struct([("at", pa.time64("us"))])) == pa.struct([("at", pa.string())])
    assert json_type(pa.int64()) == pa.int64()


def test_bytes_are_found_wherever_they_are_and_names_are_none():
    named = [("binary", pa.string()), ("binary_id", pa.int64())]
    for kind in (pa.struct(named), pa.map_(pa.string(), pa.struct(named)), pa.null()):
        assert not holds_bytes(kind)
    for own in (pa.binary(), pa.binary(3), pa.large_binary(), pa.binary_view()):
        nested = [
            *(own, pa.list_(own), pa.list_(own, 2), pa.large_list(own), pa.list_view(own)),
            *(pa.map_(pa.string(), own), pa.map_(own, pa.int8()), pa.dictionary(pa.int8(), own)),
            *(pa.struct([("a", pa.list_(pa.struct([("b", own)])))]), pa.list_(pa.list_(own))),
            *(pa.sparse_union([pa.field("a", own)]), pa.run_end_encoded(pa.int32(), own)),
        ]
        assert all(map(holds_bytes, nested))


def test_values_stay_and_an_impossible_one_is_its_rows_error():
    at = pa.array([0, 2**62, None], pa.timestamp("s"))
    days = pa.array([datetime.date(2024, 2, 29), None, None], pa.date32())
    table, errors = json_columns(pa.table({"at": at, "day": days, "n": [1, 2, 3]}))
    assert table["at"].to_pylist() == ["1970-01-01 00:00:00", None, None]
    assert table["day"].to_pylist() == ["2024-02-29", None, None]
    assert table["n"].to_pylist() == [1, 2, 3]
    assert list(errors) == [1]
    assert errors[1].startswith("`at` cannot be written as JSON: ")


def test_times_of_a_zone_that_nobody_knows_are_their_rows_errors():
    at = pa.array([0, None, 1], pa.timestamp("ms", "Foo/Bar"))
    table, errors = json_columns(pa.table({"at": at, "n": [1, 2, 3]}))
    assert table["at"].to_pylist() == [None] * 3
    assert table["n"].to_pylist() == [1, 2, 3]
    assert list(errors) == [0, 2]
    assert "Foo/Bar" in errors[0]


@pytest.mark.parametrize("nested", [False, True])
def test_durations_are_in_microseconds_or_their_rows_errors(nested):
    for unit, values, expected in (
        ("s", [1, 2**60, None], [datetime.timedelta(seconds=1), None, None]),
        ("ns", [1_001, 2_000, None], [*map(datetime.timedelta, (0, 0), (0, 0), (1, 2)), None]),
    ):
        column = pa.array(values, pa.duration(unit))
        column = pa.StructArray.from_arrays([column], ["d"]) if nested else column
        table, errors = json_columns(pa.table({"d": column}))
        found = table["d"].to_pylist()
        if nested:
            found = [own and own["d"] for own in found]
        assert found == expected
        assert list(errors) == [n for n, own in enumerate(values) if own == 2**60]
