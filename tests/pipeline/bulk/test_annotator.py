from __future__ import annotations

import pytest

import trigner
from tiny_models import TEXT

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

from trigner.pipeline.bulk import annotator


@pytest.mark.parametrize("runtime", ["saved_model", "exported_model"])
def test_models_of_either_runtime_annotate_with_the_threads_of_a_worker(request, runtime):
    folder = request.getfixturevalue(runtime)
    own = annotator(folder)
    assert own.threads == 1
    assert own.extractor.source.threads == (None if runtime == "saved_model" else 1)
    (found,) = own.texts([TEXT])
    expected = trigner.load(folder)(TEXT).entities
    assert [entity["text"] for entity in found.entities] == [e.text for e in expected]
    assert found.entities


@pytest.mark.parametrize("most", ["3", 0, None, 1.5])
def test_a_bound_on_characters_is_a_whole_number(saved_model, most, refused):
    with refused():
        annotator(saved_model, most_characters=most)
