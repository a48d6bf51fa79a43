from __future__ import annotations

import json
import resource
from io import FileIO
from multiprocessing import get_context
from pathlib import Path

import pytest

from trigner.errors import InputError, TrignerError
from trigner.prompting import Answers, Question, Reply

REPLY = Reply("[]", "stop", "m-1", 10, 2, 1)
QUESTION = Question("m", "p", {"temperature": 0})


def add(answers, question, text="[]"):
    reply = Reply(text, "stop", "m-1", 10, 2, 1)
    return answers.add(question, reply, base_url="http://here/v1", seconds=0.5)


def test_an_answer_is_found_again(tmp_path):
    path = tmp_path / "deep" / "answers.jsonl"
    written = add(Answers(path), QUESTION, "[\ud800 ü]")
    read = Answers(path)
    assert read.get(QUESTION) == written
    assert read.get(QUESTION).text == "[\ud800 ü]"
    assert len(read) == 1


def test_the_key_is_of_model_prompt_and_parameters():
    keys = {
        QUESTION.key,
        Question("n", "p", {"temperature": 0}).key,
        Question("m", "q", {"temperature": 0}).key,
        Question("m", "p", {"temperature": 1}).key,
    }
    assert len(keys) == 4
    assert Question("m", "p", {"a": 1, "b": 2}).key == Question("m", "p", {"b": 2, "a": 1}).key


def test_the_line_tells_what_an_audit_needs(tmp_path):
    path = tmp_path / "answers.jsonl"
    add(Answers(path), QUESTION)
    (line,) = path.read_text().splitlines()
    told = json.loads(line)
    assert told["model"] == "m"
    assert told["answered_by"] == "m-1"
    assert len(told["prompt_sha256"]) == 64
    assert told["date"].endswith("+00:00")
    assert "p" not in told.values()


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_line_that_was_cut_off_loses_nothing_else(tmp_path, cut):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    others = [Question("m", str(n), {}) for n in range(3)]
    for question in others:
        add(answers, question)
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    again = Answers(path)
    # A line without its end of line only is whole.
    kept = 3 if cut == 1 else 2
    assert (len(again), again.damaged) == (kept, 3 - kept)
    add(again, QUESTION)
    once_more = Answers(path)
    assert len(once_more) == kept + 1
    assert once_more.get(QUESTION) is not None
    assert path.read_bytes().startswith(data[:-cut])


def test_the_first_of_two_answers_counts(tmp_path):
    path = tmp_path / "answers.jsonl"
    one, other = Answers(path), Answers(path)
    add(one, QUESTION, "first")
    assert add(other, QUESTION, "second").text == "second"
    assert Answers(path).get(QUESTION).text == "first"


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="no recorded answers"):
        Answers(path)


def test_a_folder_in_place_of_the_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Answers(tmp_path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrignerError, match="cannot write"):
        add(Answers(tmp_path / "file" / "answers.jsonl"), QUESTION)


def test_a_disk_that_was_full_loses_nothing_after_it(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    add(answers, QUESTION)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, before[1]))
    try:
        with pytest.raises(TrignerError, match="cannot write"):
            add(answers, Question("m", "lost", {}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answers.get(Question("m", "lost", {})) is None
    assert not path.read_bytes().endswith(b"\n")
    after = Question("m", "after", {})
    add(answers, after)
    again = Answers(path)
    assert (len(again), again.damaged) == (2, 1)
    assert again.get(after) is not None


def test_a_write_of_a_part_is_repeated(tmp_path, monkeypatch):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)

    class Taking(FileIO):
        left = 2

        def write(self, data):
            Taking.left -= 1
            return super().write(data[:20] if Taking.left >= 0 else data)

    monkeypatch.setattr(Path, "open", lambda self, mode, **_: Taking(self, mode))
    add(answers, QUESTION)
    again = Answers(path)
    assert (len(again), again.damaged) == (1, 2)
    Taking.left = 99
    with pytest.raises(TrignerError, match="only parts"):
        add(answers, Question("m", "q", {}))


def test_what_another_run_left_half_spoils_nothing(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    add(answers, QUESTION)
    with path.open("ab") as file:
        file.write(b'{"key": "12')
    after = Question("m", "after", {})
    add(answers, after)
    again = Answers(path)
    assert (len(again), again.damaged) == (2, 1)
    assert again.get(after) is not None


def _add_many(path, name):
    answers = Answers(path)
    for number in range(50):
        add(answers, Question(name, str(number), {}), "x" * 3000)


def test_two_processes_may_add(tmp_path):
    path = tmp_path / "answers.jsonl"
    workers = [get_context("spawn").Process(target=_add_many, args=(path, n)) for n in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    answers = Answers(path)
    assert (len(answers), answers.damaged) == (100, 0)
