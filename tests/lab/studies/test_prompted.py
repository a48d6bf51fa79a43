from __future__ import annotations

import json
from dataclasses import replace

import pytest

from trigner.evaluation.scores import score
from trigner.lab.prompting.sentences import words_sha256
from trigner.lab.studies.grid import runs
from trigner.lab.studies.prompted import compare_prompted
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import gather

LEG, LEFT, RIGHT = [1, 2, 3], [0, 1, 4], [0, 3, 4]


@pytest.fixture
def systems(finished, corpus):
    study, results = finished
    return gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)


WORDS = {
    ("test-one", 0): ["my", "left", "leg", "hurt", ".", "no", "pain", "."],
    ("test-two", 0): ["numb", "left", "and", "right", "arm", "."],
    ("test-two", 1): ["my", "leg", "felt", "numb", "after", "the", "tablet", "."],
}


def answers(folder, variant, *lines, types=("ADR", "Drug")):
    """A variant's folder; a line is document, sentence and the words of each mention."""
    path = folder / variant / "sentences.jsonl"
    path.parent.mkdir(parents=True)
    told = [
        {
            "document": document,
            "sentence": sentence,
            "types": list(types),
            "words_sha256": words_sha256(words_of(document, sentence)),
            "predicted": [{"index": words, "type": "ADR"} for words in mentions],
        }
        for document, sentence, *mentions in lines
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    return folder


def words_of(document, sentence):
    name, _, number = document.partition(":")
    return WORDS.get((name, int(number) - 1 if number.isdecimal() else sentence), ["other"])


def rates(group):
    return {
        name: (seeds, *(s.mean for s in spreads[:3])) for name, seeds, spreads in group.spreads()
    }


def test_all_sentences_give_the_scores_of_the_whole_part(systems, corpus, tmp_path):
    everything = [("test-one", 0, LEG), ("test-two", 0, LEFT), ("test-two", 1)]
    (group,) = compare_prompted(
        corpus, systems, [answers(tmp_path / "qwen", "two-shot", *everything)]
    )
    assert (group.total, len(group.gold)) == (3, 3)
    found = rates(group)
    assert list(found) == ["window=none", "window=5", "control", "qwen, two-shot"]
    for system in systems:
        kept = system.results[0].predictions()["overall"]
        whole = score(corpus.test, kept.on(corpus.test)).overall
        assert found[system.name] == (
            2, *(100 * rate for rate in (whole.f1, whole.precision, whole.recall)),
        )  # fmt: skip
    assert found["qwen, two-shot"] == pytest.approx((0, 100 * 4 / 7, 100, 40))


def test_of_a_sample_only_its_sentences_count(systems, corpus, tmp_path):
    sample = [("test-two:2", 0), ("test-two:1", 0, LEFT, RIGHT)]
    (group,) = compare_prompted(corpus, systems, [answers(tmp_path / "qwen", "zero-shot", *sample)])
    found = rates(group)
    assert found["qwen, zero-shot"] == pytest.approx((0, 100 * 2 / 3, 100, 50))
    assert found["control"] == pytest.approx((2, 40, 100, 25))
    assert [d.id for d in group.gold] == ["test-two:1", "test-two:2"]
    page = group.page()
    assert "Trained systems and language models on small" in page
    assert "qwen, zero-shot" in page
    assert "window=none" in page


def test_only_the_types_asked_for_count(systems, corpus, tmp_path):
    folder = answers(tmp_path / "qwen", "a", ("test-two", 1, [1, 3]), types=["ADR"])
    (group,) = compare_prompted(corpus, systems, [folder])
    assert group.types == ("ADR",)
    assert rates(group)["qwen, a"] == (0, 100, 100, 100)
    answers(folder, "b", ("test-two", 1, [1, 3]))
    assert len(compare_prompted(corpus, systems, [folder])) == 2


def test_variants_with_other_sentences_are_apart(systems, corpus, tmp_path):
    folder = answers(tmp_path / "qwen", "a", ("test-one", 0, LEG))
    answers(folder, "b", ("test-one", 0))
    answers(folder, "c", ("test-two", 0, LEFT))
    groups = compare_prompted(corpus, systems, [folder])
    assert [list(group.prompted) for group in groups] == [["qwen, a", "qwen, b"], ["qwen, c"]]


def test_a_system_without_predictions_is_left_out(systems, corpus, tmp_path):
    folder = answers(tmp_path / "qwen", "a", ("test-one", 0, LEG))
    bare = replace(systems[0], results=tuple(replace(r, found=None) for r in systems[0].results))
    (group,) = compare_prompted(corpus, [bare, *systems[1:]], [folder])
    assert list(group.trained) == ["window=5", "control"]


@pytest.mark.parametrize(
    "line",
    [("test-three", 0), ("test-one", 1), ("test-one:9", 0), ("x:y", 0), ("test-one:²", 0)],
)
def test_sentences_of_something_else(systems, corpus, tmp_path, line, refused):
    folder = answers(tmp_path / "qwen", "a", ("test-one", 0), line)
    with refused() as caught:
        compare_prompted(corpus, systems, [folder])
    assert caught.value.line == 2


def test_a_sentence_with_other_words(systems, corpus, tmp_path, monkeypatch, refused):
    monkeypatch.setitem(WORDS, ("test-one", 0), ["my", "leg"])
    with refused():
        compare_prompted(corpus, systems, [answers(tmp_path / "qwen", "a", ("test-one", 0))])


def test_two_folders_of_one_name(systems, corpus, tmp_path, refused):
    folders = [answers(tmp_path / name / "qwen", "a", ("test-one", 0)) for name in "ab"]
    with refused():
        compare_prompted(corpus, systems, folders)


def test_a_folder_of_something_else(systems, corpus, tmp_path, refused):
    with refused():
        compare_prompted(corpus, systems, [tmp_path])
