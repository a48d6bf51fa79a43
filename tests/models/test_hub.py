from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import yaml

import trigner
from hub_stub import TOKEN
from tiny_models import TEXT
from trigner.errors import TrignerError
from trigner.models.fetching import fetch
from trigner.models.hub import push_to_hub, save_pretrained


@pytest.fixture(params=["saved_model", "exported_model"])
def folder(request, tmp_path):
    """A folder of each kind, to be changed as one likes."""
    return shutil.copytree(request.getfixturevalue(request.param), tmp_path / "folder")


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_saved_folder_is_the_model_with_a_card(folder, tmp_path):
    before = contents(folder)
    (folder / "run.json").write_text("{}")
    out = save_pretrained(folder, tmp_path / "new" / "out")
    found = contents(out)
    assert b"library_name: trigner" in found.pop("README.md")
    assert found == before
    document = trigner.load(out, device="cpu", threshold=0.1)(TEXT)
    assert document.entities
    assert document == trigner.load(folder, device="cpu", threshold=0.1)(TEXT)


def test_a_licence_is_stated_in_the_card(folder, tmp_path):
    (folder / "README.md").write_text("# Mine\n")
    out = save_pretrained(folder, tmp_path / "out", licence="mit")
    assert "license: mit" in (out / "README.md").read_text("utf-8")


def test_a_folders_own_card_is_kept(folder, tmp_path):
    (folder / "README.md").write_text("# Mine\n")
    out = save_pretrained(folder, tmp_path / "out")
    assert (out / "README.md").read_text() == "# Mine\n"
    assert save_pretrained(out, out) == out
    assert (out / "README.md").read_text() == "# Mine\n"


def test_an_extractor_is_saved_as_the_folder_that_it_was_loaded_from(folder, tmp_path, refused):
    extract = trigner.load(folder, device="cpu", threshold=0.1)
    out = save_pretrained(extract, tmp_path / "out")
    assert contents(out) == contents(save_pretrained(folder, tmp_path / "other"))
    with refused():
        save_pretrained(replace(extract, source=None), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_saving_in_place_adds_the_card_alone(folder):
    before = contents(folder)
    save_pretrained(folder, folder)
    after = contents(folder)
    assert after.pop("README.md")
    assert after == before


def test_what_was_uploaded_comes_back(hub, folder):
    (folder / "run.json").write_text("{}")
    (folder / "secret.txt").write_text("not for others")
    address = push_to_hub(folder, "ann/adr", token=TOKEN)
    assert address == f"{hub.address}/ann/adr/commit/{hub.sha('ann/adr')}"
    held = hub.repositories["ann/adr"]
    model = {n: c for n, c in contents(folder).items() if n not in {"run.json", "secret.txt"}}
    assert held == {**model, "README.md": held["README.md"]}
    assert 'trigner.load("ann/adr")' in held["README.md"].decode()
    assert trigner.load("ann/adr", device="cpu")(TEXT) == trigner.load(folder, device="cpu")(TEXT)


def test_what_can_be_saved_can_be_uploaded(hub, exported_model, refused):
    push_to_hub(trigner.load(exported_model), "ann/adr", token=TOKEN)
    assert "model.onnx" in hub.repositories["ann/adr"]
    with refused():
        push_to_hub(exported_model, None)


def test_private_models(hub, exported_model, refused):
    push_to_hub(exported_model, "ann/adr", private=True, token=TOKEN)
    with refused("adr"):
        trigner.load("ann/adr")
    folder = fetch("ann/adr", token=TOKEN)
    assert trigner.load(folder).labels == ("ADR", "Drug")


def test_a_model_of_the_other_kind_is_replaced_and_the_rest_stays(hub, saved_model, exported_model):
    push_to_hub(saved_model, "ann/adr", token=TOKEN)
    first = hub.sha("ann/adr")
    hub.repositories["ann/adr"]["paper.pdf"] = b"%PDF"
    push_to_hub(exported_model, "ann/adr", token=TOKEN)
    assert hub.sha("ann/adr") != first
    names = {"README.md", "model.onnx", "paper.pdf", "tokenizer.json", "trigner.json"}
    assert set(hub.repositories["ann/adr"]) == names


def test_a_hub_name_is_saved_from_the_hub(hub, exported_model, tmp_path):
    push_to_hub(exported_model, "ann/adr", token=TOKEN)
    out = save_pretrained("ann/adr", tmp_path / "out")
    assert not any(path.is_symlink() for path in out.iterdir())
    assert contents(out) == hub.repositories["ann/adr"]
    # The cache's files are left as they are.
    assert (fetch("ann/adr") / "model.onnx").is_file()


@pytest.mark.parametrize("name", ["adr", "ann/adr@main", "a/b/c", "../adr", ""])
def test_bad_repository_names(exported_model, name, refused):
    with refused():
        push_to_hub(exported_model, name)


def test_a_hub_that_refuses(hub, exported_model, refused):
    with refused(error=TrignerError) as caught:
        push_to_hub(exported_model, "ann/adr", token="hf_wrong")
    assert "\n" not in str(caught.value)
    hub.failing = 400
    with refused(error=TrignerError):
        push_to_hub(exported_model, "ann/adr", token=TOKEN)
    assert hub.repositories == {}


def foreign(folder):
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    (folder / "config.json").write_text('{"architectures": ["BertForTokenClassification"]}')


def old(folder):
    path = folder / "trigner.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "format": 2}))


def changed(folder):
    (folder / "tokenizer.json").write_text("{}")


def incomplete(folder):
    (folder / "tokenizer.json").unlink()


def without_hashes(folder):
    path = folder / "trigner.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "files": None}))


BAD = {
    foreign: "is not a trigner model folder: it has no trigner.json",
    old: r"has model format 2, written by trigner .*; this version reads format 1",
    changed: r"tokenizer\.json: checksum mismatch",
    incomplete: r"this model folder has no tokenizer\.json",
    without_hashes: "is damaged: files: ",
}


@pytest.mark.parametrize("spoil", BAD, ids=lambda spoil: spoil.__name__)
def test_bad_folders_are_neither_saved_nor_uploaded(hub, folder, tmp_path, spoil, refused):
    spoil(folder)
    with refused():
        save_pretrained(folder, tmp_path / "out")
    with refused():
        push_to_hub(folder, "ann/adr", token=TOKEN)
    assert not (tmp_path / "out").exists()
    assert hub.repositories == {}


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..\\\\passwd", "trigner.json"]
)
def test_a_description_that_names_other_files_is_refused(exported_model, tmp_path, name, refused):
    folder = shutil.copytree(exported_model, tmp_path / "folder")
    path = folder / "trigner.json"
    description = json.loads(path.read_text("utf-8"))
    description["files"][name] = "0"
    path.write_text(json.dumps(description))
    with refused("trigner.json"):
        save_pretrained(folder, tmp_path / "deep" / "out")
    assert not (tmp_path / "deep").exists()


def test_no_folder_to_write_to(exported_model, tmp_path, refused):
    (tmp_path / "file").write_text("")
    with refused("file"):
        save_pretrained(exported_model, tmp_path / "file")
    with refused(error=TrignerError):
        save_pretrained(exported_model, tmp_path / "file" / "below")


def test_the_card_is_what_the_hub_reads(exported_model, tmp_path):
    card = (save_pretrained(exported_model, tmp_path / "out") / "README.md").read_text("utf-8")
    _, front, _ = card.split("---\n", 2)
    assert yaml.safe_load(front)["library_name"] == "trigner"
