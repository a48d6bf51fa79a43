from __future__ import annotations

import pytest
import yaml

from trigner.models.card import model_card
from trigner.models.folder import BUNDLED, Description

SAVED = {
    "trigner": "0.1.0",
    "system": "w2ner",
    "files": {},
    "labels": ["ADR", "Drug | `x` <script>"],
    "provenance": {
        "settings": {"preset": "clean", "encoder": "dmis-lab/biobert-base-cased-v1.2"},
        "train": {
            "documents": 66,
            "sentences": 423,
            "mentions": 788,
            "made": 110,
            "unusable": {"cut by a sentence boundary": 3},
            "signature": "data:7ae67a43|documents:66",
        },
        "dev": {
            "documents": 11,
            "epoch": 7,
            "scores": {"f1": 0.71234, "precision": 0.8, "discontinuous_f1": 0.5},
            "signature": "data:3d0fb8f2|documents:11",
        },
        "notes test": {
            "scores": {
                "overall": {"precision": 0.25, "recall": 0.5, "f1": 1 / 3, "gold": 8},
                "sentences_with_discontinuous": {"precision": 0, "recall": 0, "f1": 0, "gold": 1},
            },
            "calibration_error": 0.0321,
        },
        "recipe": "make it",
        "calibration": {
            "temperature": 1.5,
            "predictions": 90,
            "error_before": 0.2,
            "error_after": 0.05,
        },
    },
}


def described(**changes):
    """The description with changes."""
    return Description.model_validate({**SAVED, **changes})


DESCRIPTION = described()


def front_matter(card):
    start, front, _ = card.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(front)


def test_front_matter():
    assert front_matter(model_card(DESCRIPTION, licence="apache-2.0")) == {
        "library_name": "trigner",
        "pipeline_tag": "token-classification",
        "tags": ["trigner", "named-entity-recognition", "discontinuous-ner", "pytorch"],
        "license": "apache-2.0",
        "base_model": "dmis-lab/biobert-base-cased-v1.2",
    }


def test_what_the_card_says():
    card = model_card(DESCRIPTION, name="ann/adr")
    for told in (
        "# ann/adr\n",
        'trigner.load("ann/adr")',
        "'trigner[train]'",
        "- `ADR`\n",
        "66 documents, 423 sentences, 788 mentions, and 110 sentences generated from them",
        "3 mentions could not be learned: cut by a sentence boundary",
        "Licence: not stated",
        "## Scores on 11 documents of dev",
        "| all entities | 71.23 |",
        "| discontinuous entities | 50.00 |",
        "| precision | 80.00 |",
        "## Scores on notes test",
        "| overall | 25.00 | 50.00 | 33.33 | 8 |",
        "| sentences with discontinuous | 0.00 | 0.00 | 0.00 | 1 |",
        "Expected calibration error: 0.032.",
        "Made by `make it`",
        "divided by 1.5, fitted on 90",
        "0.200 before, 0.050 after",
        "## Limits",
        "trigner 0.1.0, model format 1",
        "Signature of train: `data:7ae67a43/documents:66`",
    ):
        assert told in card, told


@pytest.mark.parametrize(
    ("provenance", "told"),
    [
        ({"settings": {"encoder": ["x"], "preset": {}}}, []),
        ({"foo": 5, "bar": {"scores": 5, "signature": 3}}, ["Signature of bar: `3`"]),
        ({"foo": {"scores": {"f1": 0.5}, "documents": "x"}}, ["## Scores on foo\n"]),
        ({"foo": {"scores": {"f1": 10**400}, "calibration_error": "x"}}, ["| all entities | 1000"]),
        ({"foo": {"scores": {"overall": {"f1": "a", "recall": 0.5}}}}, ["|  | 50.00 | a |  |"]),
        ({"calibration": {**SAVED["provenance"]["calibration"], "temperature": "hot"}}, []),
        ({"calibration": {**SAVED["provenance"]["calibration"], "error_after": None}}, []),
    ],
    ids=str,
)
def test_what_provenance_says_otherwise_is_left_out_or_as_it_is(provenance, told):
    card = model_card(described(provenance=provenance))
    for line in told:
        assert line in card
    for absent in ("Encoder", "preset", "documents of", "calibration error", "Confidence"):
        assert absent not in card


def test_labels_cannot_break_out_of_the_page():
    card = model_card(DESCRIPTION)
    assert "<script>" not in card
    assert "- `Drug / 'x' (script)`\n" in card


def test_what_is_not_known_is_left_out():
    card = model_card(Description(system="w2ner", labels=("ADR",), files={}))
    assert "Scores" not in card.replace("The scores", "")
    assert "Confidence" not in card
    assert "generated from them" not in card
    assert "base_model" not in front_matter(card)
    assert "license" not in front_matter(card)


def test_exported_models_need_no_pytorch():
    card = model_card(described(runtime={"precision": "int8", "max_subwords": 40}))
    assert "onnx" in front_matter(card)["tags"]
    assert "ONNX Runtime (int8), without PyTorch" in card
    assert "[train]" not in card


@pytest.mark.parametrize(
    ("encoder", "line"),
    [
        (
            "minilm",
            "`minilm`, from [sentence-transformers/all-MiniLM-L6-v2](https://huggingface.co/"
            "sentence-transformers/all-MiniLM-L6-v2); licence: apache-2.0",
        ),
        (
            "biobert",
            "`biobert`, from [dmis-lab/biobert-base-cased-v1.2](https://huggingface.co/"
            "dmis-lab/biobert-base-cased-v1.2); its licence is stated there",
        ),
        (
            "ann/bert",
            "`ann/bert`, from [ann/bert](https://huggingface.co/ann/bert); its",
        ),
        ("folder/of/mine", "`mine`; its source and licence are not stated"),
    ],
)
def test_the_encoders_source_and_licence(encoder, line):
    card = model_card(described(provenance={"settings": {"encoder": encoder}}))
    assert f"- Encoder: {line}" in card


def test_the_bundled_models_card_names_its_encoders_source_and_licence():
    assert "all-MiniLM-L6-v2); licence: apache-2.0" in (BUNDLED / "README.md").read_text("utf-8")


def test_no_local_path_is_shown():
    settings = {"encoder": "/home/ann/secret/my-encoder"}
    card = model_card(described(provenance={"settings": settings}))
    assert "Encoder: `my-encoder`" in card
    assert "/home" not in card


def test_the_provenance_may_state_data_and_licence():
    provenance = {"licence": "cc-by-4.0", "data": "mini-adr"}
    card = model_card(described(provenance=provenance))
    assert front_matter(card)["license"] == "cc-by-4.0"
    assert "Data: mini-adr" in card
    assert "Licence: cc-by-4.0" in card
