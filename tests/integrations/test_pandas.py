from __future__ import annotations

import pytest

import trigner
from tiny_models import TEXT

pd = pytest.importorskip("pandas", reason="pandas is not installed (extra `lab`)")
pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

from trigner.integrations.pandas import annotate  # noqa: E402


def test_a_frame_gets_two_columns(exported_model):
    texts = [TEXT, None, "my leg hurt", 5]
    frame = pd.DataFrame({"n": range(4), "body": texts}, index=["a", "a", "b", "c"])
    before = frame.copy()
    found = annotate(frame, exported_model, text="body", threshold=0.3)
    pd.testing.assert_frame_equal(found[["n", "body"]], before)
    pd.testing.assert_frame_equal(frame, before)
    extract = trigner.load(exported_model, threshold=0.3)
    assert found["error"].tolist() == [
        *(None, "the text is null", None, "the text is of type int, not a string")
    ]
    surfaces = [own and [entity["text"] for entity in own] for own in found["entities"]]
    assert surfaces == [
        *([e.text for e in extract(TEXT).entities], None),
        *([e.text for e in extract("my leg hurt").entities], None),
    ]
    assert surfaces[0]


@pytest.mark.parametrize(
    "values",
    [["my leg", None], pd.array(["my leg", pd.NA], "string"), pd.Categorical(["my leg", None])],
)
def test_what_is_missing_is_null_in_every_type(exported_model, values):
    found = annotate(pd.DataFrame({"text": values}), exported_model)
    assert found["error"].tolist() == [None, "the text is null"]


def test_wrong_columns_are_refused(exported_model, refused):
    with refused():
        annotate(pd.DataFrame({"text": ["x"]}), exported_model, text="body")
    with refused():
        annotate(pd.DataFrame({"text": ["x"], "entities": [1]}), exported_model)
    assert len(annotate(pd.DataFrame({"text": []}), exported_model)) == 0


def test_what_is_no_frame_or_setting_is_refused(exported_model, refused):
    with refused():
        annotate(pd.Series(["x"]), exported_model)
    with refused():
        annotate(pd.DataFrame({"text": ["x"]}), exported_model, thread=2)
