from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from trigner.evaluation.signature import data_hash, same_data, sign
from trigner.mentions import Document, Entity

PAIN = Entity("ADR", ((0, 4), (12, 16)), "Pain legs", id="T1")
LEGS = Entity("ADR", ((12, 16),), "legs", id="T2")
ONE = Document("a", "Pain in all legs", (PAIN, LEGS))
TWO = Document("b", "Lone surrogate \ud800 and é", ())


def test_the_hash_does_not_depend_on_what_no_score_depends_on() -> None:
    turned = replace(
        ONE, entities=(LEGS, LEGS, replace(PAIN, id=None, score=0.5, fragments=((12, 16), (0, 5))))
    )
    assert data_hash([TWO, turned]) == data_hash([ONE, TWO])
    assert len(data_hash([])) == 64
    numpys = replace(LEGS, fragments=((np.int64(12), np.int64(16)),))
    assert data_hash([replace(ONE, entities=(PAIN, numpys))]) == data_hash([ONE])
    assert data_hash([TWO, ONE], in_order=True) != data_hash([ONE, TWO], in_order=True)


def test_signatures_of_the_same_documents() -> None:
    assert same_data(sign([ONE, TWO]), sign([TWO, ONE], settings={"a": 1}, seed=3))
    assert not same_data(sign([ONE]), sign([ONE, TWO]))
    assert not same_data(sign([ONE]), sign([TWO]))
    assert not same_data(sign([ONE]), None)
    assert not same_data("data:1|documents:2", "data:1|documents:3|seed:1")
    assert not same_data(None, None)
    assert not same_data("", "")


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, id="c"),
        replace(ONE, text="Pain in all Legs"),
        replace(ONE, entities=(PAIN,)),
        replace(ONE, entities=(PAIN, replace(LEGS, label="Sign"))),
        replace(ONE, entities=(PAIN, replace(LEGS, fragments=((13, 16),)))),
        replace(ONE, words=((0, 4), (5, 7), (8, 11), (12, 16))),
    ],
)
def test_the_hash_depends_on_what_scores_depend_on(other: Document) -> None:
    assert data_hash([other, TWO]) != data_hash([ONE, TWO])


def test_compact_form() -> None:
    bare = sign([ONE, TWO])
    assert bare.startswith(f"data:{data_hash([ONE, TWO])[:8]}|documents:2|version:")
    assert "|python:3." in bare
    assert "|numpy:" in bare
    assert "settings:" not in bare
    assert "seed:" not in bare
    assert "\n" not in bare


def test_settings_and_seed_are_in_it() -> None:
    signed = sign([ONE], settings={"margin": 1.0, "window": None}, seed=0)
    assert re.search(r"\|settings:[0-9a-f]{8}\|seed:0\|version:", signed)
    assert sign([ONE], settings={"window": None, "margin": 1.0}, seed=0) == signed
    assert sign([ONE], settings={"window": 2, "margin": 1.0}, seed=0) != signed
    assert "|settings:" in sign([ONE], settings={})


@pytest.mark.parametrize("bad", [{"rate": float("nan")}, {"rate": object()}])
def test_settings_must_be_writable(bad: dict[str, object], refused) -> None:
    with refused():
        sign([ONE], settings=bad)


def test_versions_come_without_an_import() -> None:
    code = (
        "import sys; from trigner.evaluation import sign; print(sign([]));"
        "sys.exit(any(m in sys.modules for m in ('torch', 'transformers', 'onnxruntime')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "documents:0" in done.stdout
