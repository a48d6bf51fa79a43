from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest

import trigner
from model_changes import change_description
from tiny_models import extractor, save
from trigner.errors import InputError, TrignerError
from trigner.families.tagging import onnx_runtime
from trigner.pipeline.options import positive
from trigner.qualifiers.rules import english

TEXT = "my left leg and right arm hurt after the second tablet"


def test_a_saved_model_extracts_the_same(tiny, tmp_path):
    model = tiny(kind="roberta")
    save(model, tmp_path / "model")
    before = extractor(model)(TEXT)
    assert before.entities
    assert before.entities == trigner.load(tmp_path / "model", device="cpu")(TEXT).entities


def test_no_such_model(tmp_path, refused):
    with refused():
        trigner.load(tmp_path / "absent")


def test_without_torch_the_message_says_what_to_install(saved_model, monkeypatch, refused):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(error=TrignerError):
        trigner.load(saved_model)


def of_system(source, target, **changes):
    """A copy of a model that says to be of another system."""
    return change_description(shutil.copytree(source, target), **changes)


def test_a_system_that_is_not_installed_names_its_package(saved_model, tmp_path):
    folder = of_system(saved_model, tmp_path / "m", system="dictionary", package="own-system")
    with pytest.raises(InputError) as raised:
        trigner.load(folder)
    assert raised.value.path == folder / "trigner.json"
    assert "unknown system 'dictionary'; known are: w2ner, " in str(raised.value)
    assert str(raised.value).endswith("; the model was made with the package own-system")


def test_a_system_that_nobody_has(saved_model, tmp_path, refused):
    with refused() as raised:
        trigner.load(of_system(saved_model, tmp_path / "m", system="none"))
    assert "made with the package" not in str(raised.value)


def test_thresholds_are_a_mapping(saved_model, refused):
    with refused():
        trigner.load(saved_model, thresholds=["ADR"])


@pytest.mark.parametrize(("runtime", "threads"), [("saved_model", None), ("exported_model", 1)])
def test_a_pickled_extractor_is_loaded_again_with_its_options(request, runtime, threads):
    folder = request.getfixturevalue(runtime)
    options = {"batch_size": 2, "threshold": 0.1, "thresholds": {"ADR": 0.2}}
    extract = trigner.load(folder, device="cpu", threads=threads, qualifiers=True, **options)
    again = pickle.loads(pickle.dumps(extract))
    assert {name: getattr(again, name) for name in options} == options
    assert [own.phrases for own in again.annotators] == [english().phrases]
    assert again.source == extract.source
    where = (again.source.folder, again.source.device, again.source.threads)
    assert where == (folder.absolute(), "cpu", threads)
    assert again(TEXT) == extract(TEXT)
    assert extract(TEXT).entities


def test_the_folder_of_a_pickled_extractor_is_found_from_anywhere(saved_model, monkeypatch):
    monkeypatch.chdir(saved_model)
    again = trigner.load(".", device="cpu")
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(again))(TEXT) == again(TEXT)


def test_an_extractor_in_memory_cannot_be_pickled(tiny, refused):
    with refused(error=TrignerError):
        pickle.dumps(extractor(tiny()))


def test_threads_are_those_of_the_session(exported_model, monkeypatch):
    asked = []
    session = onnx_runtime.onnxruntime.InferenceSession

    def watched(graph, options, **others):
        asked.append((options.intra_op_num_threads, options.inter_op_num_threads))
        return session(graph, options, **others)

    monkeypatch.setattr(onnx_runtime.onnxruntime, "InferenceSession", watched)
    monkeypatch.setattr(onnx_runtime, "threads_for_models", lambda: 2)
    one, all_allowed = trigner.load(exported_model, threads=1), trigner.load(exported_model)
    monkeypatch.setattr(onnx_runtime, "threads_for_models", lambda: None)
    all_there_are = trigner.load(exported_model)
    assert asked == [(1, 1), (2, 1), (0, 0)]
    found = [
        [e.fragments for e in each(TEXT).entities] for each in (one, all_allowed, all_there_are)
    ]
    assert found[0] == found[1] == found[2] != []


def test_threads_of_a_model_that_runs_in_pytorch_are_refused(saved_model, refused):
    with pytest.raises(InputError) as raised:
        trigner.load(saved_model, threads=4)
    assert raised.value.message == (
        "threads are those of ONNX Runtime, which does not run this model: torch.set_num_threads"
        " sets those of PyTorch"
    )
    for threads in (0, 1.5, "2", True, 2**31):
        with refused():
            trigner.load(saved_model, threads=threads)


def test_options_of_the_wrong_kind_are_named(saved_model, refused):
    for size in (0, -3, 2.5, "8", True):
        with refused():
            trigner.load(saved_model, batch_size=size)
    assert [positive("threads", value, most=2) for value in (1, 2)] == [1, 2]
    with refused():
        positive("threads", 3, most=2)
    with refused():
        trigner.load(saved_model, device=0)


def test_a_model_is_named_by_a_string_or_a_path(saved_model, refused):
    for wrong in (None, 3, b"model", trigner.load(saved_model, device="cpu")):
        with refused():
            trigner.load(wrong)


def test_annotators_are_a_list_of_functions(saved_model, refused):
    for wrong in (english(), None, 3, [3], "english"):
        with refused():
            trigner.load(saved_model, annotators=wrong)
    for wrong in ([], {"text": 1}):
        extract = trigner.load(saved_model, device="cpu", annotators=[lambda *_, own=wrong: own])
        with refused():
            extract("pain in my arm . numb leg")
    found = trigner.load(saved_model, device="cpu", annotators=[lambda *_: None])
    assert found("pain in my arm . numb leg").entities
    found = trigner.load(saved_model, device="cpu", annotators=iter([english()]))
    assert len(found.annotators) == 1
    own = found.annotators[0]
    found = trigner.load(saved_model, device="cpu", qualifiers=True, annotators=[own, print])
    assert found.annotators == (english(), own, print)


def test_numbers_of_numpy_are_numbers(saved_model):
    text = "my left leg hurt"
    half = trigner.load(saved_model, threshold=0.5, batch_size=2)(text)
    found = trigner.load(saved_model, threshold=np.float32(0.5), batch_size=np.int64(2))
    assert found(text) == half
    assert trigner.load(saved_model)(text, threshold=np.float32(0.5)) == half
    assert (type(found.threshold), type(found.batch_size)) == (float, int)


def test_thresholds_of_all_types_and_of_single_ones(saved_model):
    text = "my left leg hurt. no pain in arm, numb after the tablet."
    everything = trigner.load(saved_model)(text).entities
    assert {e.label for e in everything} == {"ADR", "Drug"}
    cut = sorted(e.score for e in everything if e.label == "ADR")[-1]
    found = trigner.load(saved_model, threshold={"ADR": cut, "Drug": 0})(text).entities
    kept = [e for e in everything if e.label == "Drug" or e.score >= cut]
    assert list(found) == kept
    assert 0 < len(kept) < len(everything)
    again = trigner.load(saved_model, threshold=1, thresholds={"ADR": cut, "Drug": 0})(text)
    assert again.entities == found
    both = trigner.load(saved_model, threshold={"ADR": 1, "Drug": 1}, thresholds={"ADR": cut})
    assert both.thresholds == {"ADR": cut, "Drug": 1}
    cutting = trigner.load(saved_model, threshold={"ADR": cut})
    assert pickle.loads(pickle.dumps(cutting))(text) == cutting(text)


@pytest.mark.parametrize(
    "threshold",
    [
        1.5,
        -0.1,
        float("nan"),
        "0.5",
        True,
        {"ADR": 2},
        {"Dose": 0.5},
    ],
)
def test_thresholds_that_cannot_be(saved_model, threshold, refused):
    with refused():
        trigner.load(saved_model, threshold=threshold)
