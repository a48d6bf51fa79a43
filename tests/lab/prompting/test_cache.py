from __future__ import annotations

import json
import os
import resource
from io import FileIO
from multiprocessing import get_context

import pytest

from trigner.errors import TrignerError
from trigner.lab.prompting import cache as room
from trigner.lab.prompting.cache import CompletionCache, CompletionRequest
from trigner.lab.prompting.client import Completion

REQUEST = CompletionRequest("m", "p", {"temperature": 0})


def add(answers, request, text="[]"):
    completion = Completion(text, "stop", "m-1", 10, 2, 1, 0.5)
    answers.add(request, completion, base_url="http://here/v1")
    return completion


def test_an_answer_is_found_again(tmp_path):
    path = tmp_path / "deep" / "answers.jsonl"
    written = add(CompletionCache(path), REQUEST, "[\ud800 ü]")
    read = CompletionCache(path)
    assert read.get(REQUEST) == written
    assert read.get(REQUEST).text == "[\ud800 ü]"
    assert len(read) == 1


def test_the_key_is_of_model_prompt_and_parameters():
    keys = {
        REQUEST.key,
        CompletionRequest("n", "p", {"temperature": 0}).key,
        CompletionRequest("m", "q", {"temperature": 0}).key,
        CompletionRequest("m", "p", {"temperature": 1}).key,
    }
    assert len(keys) == 4
    assert (
        CompletionRequest("m", "p", {"a": 1, "b": 2}).key
        == CompletionRequest("m", "p", {"b": 2, "a": 1}).key
    )


def test_the_line_tells_what_an_audit_needs(tmp_path):
    path = tmp_path / "answers.jsonl"
    add(CompletionCache(path), REQUEST)
    (line,) = path.read_text().splitlines()
    told = json.loads(line)
    assert told["model"] == "m"
    assert told["response_model"] == "m-1"
    assert len(told["prompt_sha256"]) == 64
    assert told["date"].endswith("+00:00")
    assert "p" not in told.values()


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_line_that_was_cut_off_loses_nothing_else(tmp_path, cut):
    path = tmp_path / "answers.jsonl"
    answers = CompletionCache(path)
    others = [CompletionRequest("m", str(n), {}) for n in range(3)]
    for request in others:
        add(answers, request)
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    again = CompletionCache(path)
    # A line without its end of line only is whole.
    kept = 3 if cut == 1 else 2
    assert (len(again), again.damaged) == (kept, 3 - kept)
    add(again, REQUEST)
    once_more = CompletionCache(path)
    assert len(once_more) == kept + 1
    assert once_more.get(REQUEST) is not None
    assert path.read_bytes().startswith(data[:-cut])


def test_the_first_of_two_answers_counts(tmp_path):
    path = tmp_path / "answers.jsonl"
    one, other = CompletionCache(path), CompletionCache(path)
    add(one, REQUEST, "first")
    add(other, REQUEST, "second")
    assert other.get(REQUEST).text == "second"
    assert CompletionCache(path).get(REQUEST).text == "first"


def test_another_file_is_refused(tmp_path, refused):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"a": 1}\n')
    with refused():
        CompletionCache(path)


def test_a_folder_in_place_of_the_file(tmp_path, refused):
    with refused():
        CompletionCache(tmp_path)


def test_a_place_that_cannot_be_written(tmp_path, refused):
    (tmp_path / "file").write_text("")
    with refused(error=TrignerError):
        add(CompletionCache(tmp_path / "file" / "answers.jsonl"), REQUEST)


def test_a_disk_that_was_full_loses_nothing_after_it(tmp_path, refused):
    path = tmp_path / "answers.jsonl"
    answers = CompletionCache(path)
    add(answers, REQUEST)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, before[1]))
    try:
        with refused(error=TrignerError):
            add(answers, CompletionRequest("m", "lost", {}))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert answers.get(CompletionRequest("m", "lost", {})) is None
    assert not path.read_bytes().endswith(b"\n")
    after = CompletionRequest("m", "after", {})
    add(answers, after)
    again = CompletionCache(path)
    assert (len(again), again.damaged) == (2, 1)
    assert again.get(after) is not None


def test_a_write_of_a_part_is_repeated(tmp_path, monkeypatch, refused):
    path = tmp_path / "answers.jsonl"
    answers = CompletionCache(path)

    class Taking(FileIO):
        left = 2

        def write(self, data):
            Taking.left -= 1
            return super().write(data[:20] if Taking.left >= 0 else data)

    def opened(path, mode, **_):
        return Taking(path, mode)

    monkeypatch.setattr(room, "open", opened, raising=False)
    add(answers, REQUEST)
    again = CompletionCache(path)
    assert (len(again), again.damaged) == (1, 2)
    Taking.left = 99
    with refused(error=TrignerError):
        add(answers, CompletionRequest("m", "q", {}))


@pytest.mark.parametrize(
    "odd", [{"text": 5}, {"text": None}, {"finish_reason": []}, {"attempts": "x"}, {"key": []}]
)
def test_a_line_of_other_types_is_damaged(tmp_path, odd):
    path = tmp_path / "answers.jsonl"
    add(CompletionCache(path), REQUEST)
    line = json.loads(path.read_text())
    with path.open("a") as file:
        file.write(json.dumps({**line, "key": "other", **odd}) + "\n")
    again = CompletionCache(path)
    assert (len(again), again.damaged) == (1, 1)


def test_what_another_run_left_half_spoils_nothing(tmp_path):
    path = tmp_path / "answers.jsonl"
    answers = CompletionCache(path)
    add(answers, REQUEST)
    with path.open("ab") as file:
        file.write(b'{"key": "12')
    after = CompletionRequest("m", "after", {})
    add(answers, after)
    again = CompletionCache(path)
    assert (len(again), again.damaged) == (2, 1)
    assert again.get(after) is not None


def _add_many(path, name):
    answers = CompletionCache(path)
    for number in range(50):
        add(answers, CompletionRequest(name, str(number), {}), "x" * 3000)


def test_two_processes_may_add(tmp_path):
    path = tmp_path / "answers.jsonl"
    workers = [get_context("spawn").Process(target=_add_many, args=(path, n)) for n in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    answers = CompletionCache(path)
    assert (len(answers), answers.damaged) == (100, 0)


def test_what_is_no_file_of_its_own_is_refused(tmp_path, refused):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "link.jsonl").symlink_to("theirs")
    os.mkfifo(tmp_path / "fifo.jsonl")
    for name in ("link.jsonl", "fifo.jsonl"):
        with refused():
            CompletionCache(tmp_path / name)
    cache = CompletionCache(tmp_path / "late.jsonl")
    (tmp_path / "late.jsonl").symlink_to("theirs")
    with refused():
        add(cache, REQUEST)
    assert (tmp_path / "theirs").read_text() == "theirs"
