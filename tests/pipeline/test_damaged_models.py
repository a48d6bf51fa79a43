"""Models that are damaged, edited or hostile: one InputError each, when loaded or when used.

Most tables below change a model and let its hashes fit: what stands behind them is tested, too.
"""

from __future__ import annotations

import json
import shutil
from functools import cache

import numpy as np
import onnx
import pytest
from safetensors.numpy import load_file, save_file

import trigner
from graph_changes import (
    float_input,
    infinite,
    no_numbers,
    one_score,
    rename_input,
    twice,
    two_outputs,
)
from model_changes import accept_files, change_description
from tiny_models import TAG_SCHEMES
from trigner.errors import InputError
from trigner.models.folder import Description, read_description, save_model
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

TEXT = "my left leg hurt, no pain in arm"
LABELS = ("ADR", "Drug")


def complaint(folder):
    """The message of the one error that loading or using the model ends with."""
    with pytest.raises(InputError) as raised:
        trigner.load(folder)(TEXT)
    return str(raised.value)


def never(*_, **__):
    raise AssertionError("weights were loaded")


@pytest.fixture(params=["saved_model", "exported_model"])
def folder(request, tmp_path):
    """A copy of a model, for PyTorch and for ONNX Runtime."""
    return shutil.copytree(request.getfixturevalue(request.param), tmp_path / "model")


@pytest.fixture
def exported(exported_model, tmp_path):
    return shutil.copytree(exported_model, tmp_path / "model")


@pytest.fixture
def saved(saved_model, tmp_path):
    return shutil.copytree(saved_model, tmp_path / "model")


SYSTEMS = {
    "spans": ("lstm_size=8", "width_size=3", "hidden_size=6"),
    "hypergraph": ("lstm_size=8", "hidden_size=6", "start_rank=3"),
    "transition": ("lstm_size=8", "hidden_size=7", "action_size=3"),
    "seq2seq": ("lstm_size=8", "decoder_layers=2", "decoder_heads=2", "decoder_feed_forward=12"),
}
"""Systems that are no tag schemes, with settings that make them small."""


@pytest.fixture(scope="session")
def saved_system(saved_model, encoder, tmp_path_factory):
    """The folder of a small model of a system, for PyTorch, made once."""

    @cache
    def folder(name):
        if name not in SYSTEMS:
            return saved_model
        own = [f"model.{assignment}" for assignment in SYSTEMS[name]]
        options = {"system": name, "encoder": str(encoder)}
        settings = resolve(options=options, assignments=own)
        made = system_spec(name).implementation("build")(settings, LABELS)
        state = made.saved_state()
        description = Description(
            system=name,
            labels=made.labels,
            model=settings.model.model_dump(mode="json"),
            state=dict(state.state),
            files={},
        )
        path = tmp_path_factory.mktemp(name) / "model"
        save_model(path, description, state.files)
        return path

    return folder


@pytest.fixture(params=["w2ner", *SYSTEMS])
def of_any_system(request, saved_system, tmp_path):
    """A copy of a model of every system, of one tag scheme for all of them."""
    return shutil.copytree(saved_system(request.param), tmp_path / "model")


def test_a_flipped_bit_of_any_file_is_found(folder):
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for place in {0, len(content) // 3, len(content) // 2, len(content) - 1}:
            flipped = bytes([content[place] ^ 1])
            path.write_bytes(content[:place] + flipped + content[place + 1 :])
            if path.read_bytes().strip() == content.strip():
                continue
            assert path.name in complaint(folder)
        path.write_bytes(content)
    assert trigner.load(folder)(TEXT).text == TEXT


def test_an_edited_description_is_found(folder):
    path = folder / "trigner.json"
    content = json.loads(path.read_text("utf-8"))
    for change in ({"temperature": 1.5}, {"more": 1}, {"labels": ["Drug", "ADR"]}, {"trigner": ""}):
        path.write_text(json.dumps({**content, **change}), "utf-8")
        assert "trigner.json: checksum mismatch: changed since it was saved" in complaint(folder)
    del content["sha256"]
    path.write_text(json.dumps(content), "utf-8")
    assert "it has no hash of its own" in complaint(folder)


def test_layout_of_a_description_does_not_matter(folder):
    path = folder / "trigner.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(dict(reversed(content.items())), indent=7), "utf-8")
    assert trigner.load(folder)(TEXT).text == TEXT


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"[" * 100_000,
        b'{"format": 7, "labels": ' + b"[" * 100_000,
        b'{"format": ' + b"9" * 5000 + b"}",
        b'{"format": 1e999}',
        b'{"format": true}',
        b'{"format": [7]}',
        b" " * (17 * 2**20),
    ],
    ids=lambda content: str(content[:14]),
)
def test_what_is_no_description(folder, content):
    (folder / "trigner.json").write_bytes(content)
    assert "trigner.json: " in complaint(folder)


DEEP = {}
for _ in range(600):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0}, "temperature: "),
        ({"temperature": -1}, "temperature: "),
        ({"temperature": 1e-300}, "temperature: "),
        ({"temperature": 1e300}, "temperature: "),
        ({"temperature": float("nan")}, "temperature: "),
        ({"temperature": float("inf")}, "temperature: "),
        ({"temperature": "1"}, ""),
        ({"temperature": None}, "temperature: "),
        ({"labels": []}, "labels: "),
        ({"labels": [""]}, "labels: "),
        ({"labels": ["ADR", "ADR"]}, "labels: "),
        ({"labels": ["\ud800x", "Drug"]}, "is damaged: labels: has half a character"),
        ({"labels": ["x" * 1001, "Drug"]}, "is damaged: labels: "),
        ({"provenance": {"data": "\ud800"}}, "is damaged: provenance: has half a character"),
        ({"provenance": {"a": {"\ud800": 1}}}, "is damaged: provenance: has half a character"),
        ({"provenance": {"settings": {"a": float("nan")}}}, "is damaged: provenance: has a number"),
        ({"\ud800": 1}, "is damaged: \\ud800: has half a character"),
        ({"labels": ["ADR"]}, ""),
        ({"labels": ["ADR", "Drug", "Dose"]}, ""),
        ({"system": "none"}, "unknown system"),
        ({"system": "corro"}, ""),
        ({"system": "toe"}, ""),
        ({"state": {"padding_id": 10**6}}, "padding_id"),
        ({"state": {"padding_id": -1}}, "padding_id"),
        ({"state": {"padding_id": 1.5}}, "padding_id"),
        ({"state": {"padding_id": True}}, "padding_id"),
        ({"state": {"padding_id": "0"}}, "padding_id"),
        ({"state": {}}, "padding_id"),
        ({"state": None}, "state"),
        ({"model": {"colour": "red"}}, "colour"),
        ({"model": {"channels": -1}}, "channels"),
        ({"files": {}}, ""),
        ({"files": {"../a": "0"}}, "files: "),
        ({"format": 3}, "format 3"),
    ],
    ids=str,
)
def test_descriptions_that_fit_no_model(folder, changes, message):
    change_description(folder, **changes)
    if changes == {"temperature": "1"}:  # what JSON calls a number pydantic may read of a string
        assert trigner.load(folder)(TEXT).text == TEXT
        return
    assert message in complaint(folder)


def test_deep_provenance_is_refused(folder):
    change_description(folder, provenance={"settings": DEEP})
    assert "trigner.json: is damaged: provenance: is nested too deep" in complaint(folder)


def test_a_long_label_is_a_label(folder):
    change_description(folder, labels=["x" * 1000, "Drug"])
    assert trigner.load(folder).labels == ("x" * 1000, "Drug")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"special_words": []}, "special_words"),
        ({"special_words": ["[POS]"]}, "special_words"),
        ({"special_words": ["[NEG]", "[POS]"]}, "special_words"),
        ({"special_words": ["[POS]", "pain"]}, "special_words"),
        ({"max_subwords": 0}, "max_subwords"),
        ({"max_subwords": 10**9}, "max_subwords"),
        ({"max_subwords": 3}, "subwords at a time"),
    ],
    ids=str,
)
def test_runtimes_that_fit_no_graph(exported, changes, message):
    change_description(exported, runtime=changes)
    assert message in complaint(exported)


def test_special_words_are_those_of_the_settings(exported):
    change_description(exported, model={"special_words": False})
    assert "special_words" in complaint(exported)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (rename_input, "a tagger's inputs"),
        (float_input, "a tagger's inputs"),
        (no_numbers, "NaN or infinite"),
        (infinite, "NaN or infinite"),
        (one_score, "belongs to another model"),
        (twice, "not scores of shape"),
        (two_outputs, ""),
    ],
    ids=lambda own: getattr(own, "__name__", ""),
)
def test_graphs_that_are_no_taggers(exported, spoil, message):
    model = onnx.load(exported / "model.onnx")
    spoil(model.graph)
    onnx.save(model, exported / "model.onnx")
    assert message in complaint(accept_files(exported))


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 100, b"[" * 100_000])
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_files_that_are_none_of_an_exported_model(exported, name, content):
    (exported / name).write_bytes(content)
    assert name in complaint(accept_files(exported))


@pytest.mark.parametrize(
    "changes",
    [
        {"lstm_size": 10**9},
        {"lstm_size": 60_000},  # would be built, in 28 GB
        {"channels": 10**5},
        {"pair_size": 10**300},
        {"pair_size": 10**400},  # beyond a float
        {"encoder_layers": 10**6},
        {"dilations": [1] * 10_000},
        {"dilations": [10**9]},
        {"toe": {"rounds": 10**9}},
        {"mac": {"span_size": 10**9}},
    ],
    ids=str,
)
def test_absurdly_large_networks_are_refused_before_they_are_built(saved, changes):
    change_description(saved, model=changes)
    assert "trigner.json" in complaint(saved) or "model.safetensors" in complaint(saved)


@pytest.mark.parametrize("name", SYSTEMS)
def test_absurd_settings_of_other_systems_are_refused_before_they_are_built(
    saved_system, name, tmp_path, monkeypatch
):
    monkeypatch.setattr("trigner.families.core.folder.load_file", never)
    folder = shutil.copytree(saved_system(name), tmp_path / "model")
    told = read_description(folder).model
    numbers = [own for own, value in told.items() if type(value) is int]
    sizes = [own.partition("=")[0] for own in SYSTEMS[name]]
    assert {*sizes} <= {*numbers}
    for own in numbers:
        for value in (10**9, 10**400):
            change_description(folder, model={own: value})
            assert "trigner.json" in complaint(folder), own
        change_description(folder, model={own: told[own]})
    for own in sizes:  # which some weight has
        change_description(folder, model={own: 60_000})
        message = complaint(folder)
        assert "trigner.json" in message or "model.safetensors" in message, own
        change_description(folder, model={own: told[own]})
    monkeypatch.undo()
    assert trigner.load(folder)(TEXT).text == TEXT


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**9},
        {"hidden_size": 10**9},
        {"hidden_size": 4_000_000, "num_attention_heads": 1},
        {"vocab_size": 9_999_999},
        {"vocab_size": -1},
        {"max_position_embeddings": 10**12},
        {"num_attention_heads": 10**12},
        {"model_type": "none"},
        {"model_type": ["bert"]},
        {"hidden_size": "wide"},
        {
            "auto_map": {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"},
            "model_type": "evil",
        },
    ],
    ids=str,
)
def test_absurd_encoders_are_refused_before_they_are_built(of_any_system, changes):
    path = of_any_system / "encoder" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    message = complaint(accept_files(of_any_system))
    assert "config.json" in message or "model.safetensors" in message or "tokenizer" in message


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"[" * 100_000, b'{"a": ' + b"9" * 5000])
@pytest.mark.parametrize("name", ["encoder/config.json", "model.safetensors", "tokenizer.json"])
def test_files_that_are_none_of_a_saved_model(of_any_system, name, content):
    (of_any_system / name).write_bytes(content)
    assert name in complaint(accept_files(of_any_system))


def test_a_key_twice_in_an_encoders_configuration(saved):
    path = saved / "encoder" / "config.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace("{", '{"vocab_size": 10, ', 1), "utf-8")
    assert "config.json: is not a valid encoder configuration: has the key 'vocab_size' twice" in (
        complaint(accept_files(saved))
    )


def test_weights_that_are_no_numbers(of_any_system):
    path = of_any_system / "model.safetensors"
    weights = load_file(path)
    for values in weights.values():
        if values.dtype == np.float32:
            values[...] = np.nan
    save_file(weights, path)
    message = complaint(accept_files(of_any_system))
    assert "model.safetensors: is damaged" in message  # by its weights, not by what comes of them
    assert "NaN or infinite" in message


@pytest.mark.parametrize("system", [*TAG_SCHEMES, *SYSTEMS])
def test_shapes_of_every_system_are_checked_without_building_it(
    tiny, saved_system, system, tmp_path, monkeypatch, refused
):
    """Were a system not to be had without memory, the check would pass it by."""
    from tiny_models import save

    if system in SYSTEMS:
        folder = shutil.copytree(saved_system(system), tmp_path / "model")
    else:
        folder = save(tiny(system), tmp_path / "model")
    change_description(folder, labels=["ADR", "Drug", "Dose"])

    monkeypatch.setattr("trigner.families.core.folder.load_file", never)
    with refused():
        trigner.load(folder)
