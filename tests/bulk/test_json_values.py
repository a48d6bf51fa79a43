from __future__ import annotations

import datetime

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

import pyarrow as pa

from trigner.bulk.json_values import json_columns, json_type


def test_dates_are_strings_wherever_they_are():
    assert json_type(pa.timestamp("ns")) == pa.string()
    assert json_type(pa.list_(pa.date32())) == pa.list_(pa.string())
    assert json_type(pa.struct([("at", pa.time64("us"))])) == pa.struct([("at", pa.string())])
    assert json_type(pa.int64()) == pa.int64()


def test_values_stay_and_an_impossible_one_is_its_rows_error():
    at = pa.array([0, 2**62, None], pa.timestamp("s"))
    days = pa.array([datetime.date(2024, 2, 29), None, None], pa.date32())
    table, errors = json_columns(pa.table({"at": at, "day": days, "n": [1, 2, 3]}))
    assert table["at"].to_pylist() == ["1970-01-01 00:00:00", None, None]
    assert table["day"].to_pylist() == ["2024-02-29", None, None]
    assert table["n"].to_pylist() == [1, 2, 3]
    assert list(errors) == [1]
    assert errors[1].startswith("`at` cannot be written as JSON: ")
