"""The small model as workers get it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def model_annotator(exported_model):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")
    from trigner.pipeline.bulk import annotator

    return annotator(exported_model)
