from __future__ import annotations

import pytest

from trigner.cli import output
from trigner.errors import InputError


def test_only_the_first_notices_are_shown_and_all_are_counted(capsys):
    output.tell(f"line {n}" for n in range(25))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("note: line") == output.SHOWN_NOTICES
    assert "and 5 more" in printed.err


def test_refuse_non_empty(tmp_path):
    output.refuse_non_empty(tmp_path / "absent")
    output.refuse_non_empty(tmp_path)
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(InputError):
            output.refuse_non_empty(path)


def test_lists_and_progress():
    assert output.comma_list(None) is None
    assert output.comma_list("A, B,") == ["A", "B"]
    assert list(output.progress([1, 2], total=2, what="counting")) == [1, 2]
