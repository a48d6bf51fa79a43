from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import trial_seed
from llm_stub import Response, answered, failing, serving
from trigner.machine.locks import locked

SOURCE = Path(__file__).resolve().parents[3] / "src"
ARM = '```json\n[{"entity": "numb left arm", "index": [0, 1, 4], "type": "ADR"}]\n\'\'\''
SENTENCES = 4
"""Of the three documents."""

TRAIN = [
    "my sore left knee itched .",
    "a rash and a fever came .",
    "we went home again later .",
    "her stiff right hip ached .",
]


def answers(prompt):
    return answered(ARM if '"numb", "left"' in prompt.rsplit("Text: ", 1)[1] else "[]")


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.json"
    mentions = [[1, 3, 4], [1], [], [1, 4]]
    sentences = [
        {"sentence": text.split(), "ner": [{"index": i, "type": "ADR"}] if i else []}
        for text, i in zip(TRAIN, mentions, strict=True)
    ]
    path.write_text(json.dumps(sentences))
    return path


@pytest.fixture
def command(run, gold, train, tmp_path):
    """`trigner prompt` about ADR in the three documents, with a quick server."""

    def prompt(base_url, *arguments, out=tmp_path / "out"):
        given = ["--data", gold, "--train", train, "--types", "ADR", "--llm", "stub", "--out", out]
        return run("prompt", *given, "--base-url", base_url, *arguments)

    return prompt


def test_scores_predictions_and_answers(command, run, gold, tmp_path):
    with serving(answers) as stub:
        result = command(stub.base_url, "--shots", 2, "--json", "--format", "brat")
    assert result.code == 0, result.err
    told = json.loads(result.out)["two-shot"]
    assert told["scores"]["strict"]["overall"]["correct"] == 1
    assert told["scores"]["strict"]["overall"]["gold"] == 4
    out = tmp_path / "out"
    assert len((out / "answers.jsonl").read_text().splitlines()) == len(stub.requests)
    assert json.loads((out / "two-shot" / "scores.json").read_text()) == told
    sentences = [
        json.loads(s) for s in (out / "two-shot" / "sentences.jsonl").read_text().splitlines()
    ]
    assert len(sentences) == told["sentences"]
    assert [s["predicted"] for s in sentences if s["predicted"]] == [
        [{"index": [0, 1, 4], "type": "ADR"}]
    ]
    # What was written scores as what was told.
    written = out / "two-shot" / "predictions"
    again = run("score", "--gold", gold, "--pred", written, "--types", "ADR", "--json")
    scores = json.loads(again.out)
    assert scores["overall"] == told["scores"]["text"]["overall"]


def test_tables_and_the_ordinary_scores(command):
    with serving(answers) as stub:
        result = command(stub.base_url)
    assert result.code == 0, result.err
    for part in ("text match", "missed discontinuous", "sentences without", "4 sentences: 2 with"):
        assert part in result.out, result.out


def test_six_variants_in_one_command(command, tmp_path):
    with serving(answers) as stub:
        result = command(stub.base_url, "--all-variants", "--json", "--html", tmp_path / "p.html")
    assert result.code == 0, result.err
    assert len(json.loads(result.out)) == 6
    assert len(stub.requests) == 6 * SENTENCES
    assert "two-shot-explained" in (tmp_path / "p.html").read_text()


def test_a_dry_run_asks_nothing_and_writes_nothing(command, tmp_path):
    with serving(answers) as stub:
        result = command(stub.base_url, "--dry-run", "--prices", "2.5,10", "--all-variants")
        assert result.code == 0, result.err
        assert not stub.requests
    assert not (tmp_path / "out").exists()
    assert "The first of 24 prompts" in result.out
    assert "cost: 0.2" in result.out
    assert "estimated: one token for" in result.out
    assert "sent to" not in result.out
    assert (
        "sent to https://api.openai.com/v1" in command("https://api.openai.com/v1", "--dry-run").out
    )


def test_a_dry_run_as_json(command):
    found = command("http://127.0.0.1:9/v1", "--dry-run", "--json", "--prices", "2.5,10")
    told = json.loads(found.out)
    assert "find every ADR" in told["first_prompt"]
    assert (told["prompts"], told["to_send"], told["recorded"]) == (SENTENCES, SENTENCES, 0)
    tokens = (told["prompt_tokens"], told["max_answer_tokens"])
    assert told["max_cost"] == pytest.approx((2.5 * tokens[0] + 10 * tokens[1]) / 1e6)
    assert told["sent_to"] is None
    elsewhere = command("https://api.openai.com/v1", "--dry-run", "--json").out
    assert json.loads(elsewhere)["sent_to"] == "https://api.openai.com/v1"


def test_a_terminal_obeys_nothing_of_a_prompt(run, train, tmp_path):
    sentence = json.loads(train.read_text())[0]
    sentence["ner"][0]["type"] = "X\x1b[31mred\x9b"
    train.write_text(json.dumps([sentence]))
    given = ("--data", train, "--llm", "stub", "--out", tmp_path / "out", "--dry-run")
    result = run("prompt", *given, "--base-url", "http://127.0.0.1:9")
    assert result.code == 0, result.err
    assert "[31mred" in result.out
    assert not {"\x1b", "\x9b"} & {*result.out}


def test_a_run_goes_on_where_it_ended(command, tmp_path):
    page = tmp_path / "page.html"

    def gone(prompt):
        return answers(prompt) if '"leg"' in prompt.rsplit("Text: ", 1)[1] else failing(401)

    with serving(gone) as stub:
        result = command(stub.base_url, "--concurrency", 1, "--html", page)
        assert result.code == 1
        begun = page.read_text()
        assert "continue with --resume" in result.err
        assert "TRIGNER_LLM_API_KEY" in result.err
        before = len(stub.requests)
    with serving(answers) as stub:
        refused = command(stub.base_url)
        assert refused.code == 2
        assert "is not empty" in refused.err
        result = command(stub.base_url, "--resume", "--json", "--html", page)
        assert result.code == 0, result.err
    assert "numb left arm" in begun
    assert page.read_text() != begun
    elsewhere = command("http://127.0.0.1:9/v1", "--html", page, out=tmp_path / "other")
    assert elsewhere.code == 2
    assert "already exists" in elsewhere.err
    told = json.loads(result.out)["zero-shot"]
    assert told["recorded_before"] == before - 1
    assert told["answered"] == len(stub.requests) == SENTENCES - told["recorded_before"]
    again = command("http://127.0.0.1:9/v1", "--resume", "--json")  # nobody listens there
    assert json.loads(again.out)["zero-shot"]["scores"] == told["scores"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_asks_nothing_twice(gold, tmp_path, how):
    """A real process, killed while questions are under way."""

    def slow(prompt):
        time.sleep(0.0 if '"leg"' in prompt else 60.0 if stub.slow else 0.0)
        return answers(prompt)

    out = tmp_path / "out"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with serving(slow) as stub:
        stub.slow = True
        arguments = ["--data", gold, "--types", "ADR", "--llm", "stub", "--out", out]
        line = [sys.executable, "-m", "trigner", "prompt", *map(str, arguments)]
        line += ["--base-url", stub.base_url, "--concurrency", "2"]
        # What runs in the background of a shell script inherits that SIGINT is ignored.
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        process = subprocess.Popen(
            line, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=heard
        )
        answered = out / "answers.jsonl"

        def under_way():
            """One is kept and two are open: two may be open before any is kept."""
            return stub.at_once == 2 and answered.exists() and "\n" in answered.read_text()

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not under_way():
            time.sleep(0.02)
        time.sleep(trial_seed.chosen(5).uniform(0, 0.2))
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
        assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130), err
        kept = len(answered.read_text().splitlines())
        assert kept >= 1
        stub.slow = False
        asked = len(stub.requests)
        done = subprocess.run([*line, "--resume", "--json"], env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert len(stub.requests) - asked == SENTENCES - kept
    told = json.loads(done.stdout)["zero-shot"]
    assert (told["recorded_before"], told["answered"]) == (kept, SENTENCES - kept)


def test_two_processes_do_not_ask_twice(command, tmp_path):
    with serving(answers) as stub:
        with locked(tmp_path / "out.lock"):
            for options in ([], ["--resume"]):
                refused = command(stub.base_url, *options)
                assert refused.code == 2
                assert "another process is prompting here: wait for it" in refused.err
            assert command(stub.base_url, "--dry-run").code == 0
        assert not stub.requests
        assert command(stub.base_url).code == 0
        assert len(stub.requests) == SENTENCES
    assert not (tmp_path / "out.lock").exists()


def test_a_folder_has_one_lock_by_whatever_name(command, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    monkeypatch.chdir(tmp_path / "out")
    with serving(answers) as stub:
        with locked(tmp_path / "out.lock"):
            for name in ("../link", ".", "./", "", tmp_path / "link"):
                refused = command(stub.base_url, out=name)
                assert refused.code == 2
                assert "another process is prompting here" in refused.err
        assert command(stub.base_url, out=".").code == 0
        assert len(stub.requests) == SENTENCES
    assert (tmp_path / "out" / "answers.jsonl").is_file()
    assert {path.name for path in tmp_path.glob("*.lock")} == set()


@pytest.mark.parametrize("options", [[], ["--resume"]])
@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("/", "is the root of the file system: choose a new folder"),
        (os.devnull, "is not a folder"),
        ("fifo", "is not a folder"),
        ("x" * 300, "too long"),
    ],
)
def test_what_cannot_be_the_output_is_refused_at_once(command, tmp_path, out, told, options):
    os.mkfifo(tmp_path / "fifo")
    with serving(answers) as stub:
        result = command(stub.base_url, *options, out=tmp_path / out)
        assert (result.code, result.out, stub.requests) == (2, "", [])
    assert told in result.err
    assert not Path("/.lock").exists()


def test_a_place_where_nothing_can_be_made_is_not_one_where_somebody_prompts(command):
    result = command("http://127.0.0.1:9/v1", out="/proc/x")
    assert (result.code in (1, 2), result.out) == (True, "")  # root alone is not refused before
    assert "cannot" in result.err
    assert "another process" not in result.err


@pytest.mark.parametrize(
    "bad",
    [
        Response(hangs=True),
        Response(body=b"xx", cut=0),
        Response(body=b"<html>Sign in</html>", headers={"Content-Type": "text/html"}),
        failing(500),
    ],
    ids=["hangs", "drops", "html", "500"],
)
def test_a_server_that_fails_on_one_sentence_loses_no_other(command, tmp_path, bad):
    def answerer(prompt):
        return bad if '"tablet"' in prompt.rsplit("Text: ", 1)[1] else answers(prompt)

    with serving(answerer) as stub:
        result = command(stub.base_url, "--timeout", 1, "--attempts", 1, "--json")
    assert result.code == 1
    assert "2 requests without an answer, counted as finding nothing" in result.err
    told = json.loads(result.out)["zero-shot"]
    assert (told["answered"], told["without_answer"]) == (2, 2)
    assert told["failures"]["no answer"]["count"] == 2
    assert told["scores"]["strict"]["overall"]["correct"] == 1
    assert (tmp_path / "out" / "zero-shot" / "predictions.jsonl").exists()


def test_one_of_each_is_called_one(command, run, gold, tmp_path):
    def answerer(prompt):  # the fifth of six variants gets none
        return failing(401) if len(stub.requests) > 4 * SENTENCES else answers(prompt)

    def refusing(prompt):
        return failing(400) if '"numb", "left"' in prompt else answers(prompt)

    with serving(refusing) as stub:
        result = command(stub.base_url)
    assert "1 request without an answer, counted as finding nothing" in result.err
    with serving(answerer) as stub:
        result = command(stub.base_url, "--all-variants", "--concurrency", 1, out=tmp_path / "six")
    assert "; 1 more variant was not started" in result.err
    same = ["--data", gold / "one.txt", "--train", gold]
    result = run("prompt", *same, "--llm", "m", "--out", tmp_path / "o", "--shots", 1)
    assert "1 document is in both --data and --train, such as 'one'" in result.err


def test_a_key_is_nowhere(command, tmp_path, monkeypatch):
    key = "sk-very-secret-0123"
    monkeypatch.setenv("TRIGNER_LLM_API_KEY", key)

    def tells(prompt):
        if '"tablet"' in prompt:
            return failing(400, f"bad key {key}")
        return answered(f"[] by {key}")

    with serving(tells) as stub:
        result = command(stub.base_url, "--html", tmp_path / "page.html")
        assert {h["authorization"] for h in stub.headers} == {f"Bearer {key}"}
    assert "bad key [key]" in result.err
    assert key not in result.out + result.err
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or key not in path.read_text(), path


def test_credentialed_corpora_stay_on_this_machine(command, monkeypatch):
    from trigner.corpora.formats import FORMATS

    monkeypatch.setattr(type(FORMATS["brat"]), "__setattr__", object.__setattr__)
    monkeypatch.setattr(FORMATS["brat"], "is_credentialed", True)
    refused = command("http://192.0.2.1/v1")
    assert refused.code == 2
    assert "brat is a credentialed corpus" in refused.err
    with serving(answers) as stub:
        assert command(stub.base_url).code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--reason-first"], "needs --explain"),
        (["--all-variants", "--shots", 2], "omit them"),
        (["--parameter", "top_p"], "NAME=VALUE"),
        (["--parameter", "top_p=x"], "is not valid JSON"),
        (["--parameter", "model=1"], "cannot set 'model'"),
        (["--parameter", f"x={'[' * 100_000}"], "is not valid JSON"),
        (["--parameter", f"x={'[' * 500}{']' * 500}"], "x: is nested too deep"),
        (["--parameter", "x=NaN"], "x: has a number that is NaN"),
        (["--descriptor", "Drug=medicine"], "not one of the types"),
        (["--prices", "2", "--dry-run"], "two numbers"),
        (["--prices", "2,nan", "--dry-run"], "non-negative"),
        (["--format", "html"], "cannot be written; choose one of brat"),
        (["--compare", "m"], "needs --html"),
        (["--key-variable", "NOT_THERE"], "NOT_THERE is not set"),
        (["--shots", 9], "cannot choose 9 examples"),
    ],
)
def test_bad_usage(command, arguments, told):
    result = command("http://127.0.0.1:9/v1", *arguments)
    assert result.code == 2, result.err
    assert told in result.err


def test_examples_must_not_be_what_is_asked(run, gold, tmp_path):
    common = ["--data", gold, "--llm", "m", "--out", tmp_path / "o", "--shots", 1]
    result = run("prompt", *common, "--train", gold)
    assert result.code == 2
    assert "3 documents are in both" in result.err
    assert "add --train" in run("prompt", *common).err


def test_without_a_server_only_the_record_counts(command, run, gold, tmp_path):
    common = ["--data", gold, "--types", "ADR", "--llm", "stub", "--out", tmp_path / "out"]
    with serving(answers) as stub:
        first = command(stub.base_url, "--json")
    again = run("prompt", *common, "--resume", "--json")
    assert again.code == 0, again.err
    scores = [json.loads(r.out)["zero-shot"]["scores"] for r in (first, again)]
    assert scores[0] == scores[1]
    recorded = tmp_path / "out" / "answers.jsonl"
    recorded.write_text("".join(recorded.read_text().splitlines(keepends=True)[1:]))
    missing = run("prompt", *common, "--resume", "--json")
    assert missing.code == 1
    assert "no server is given" in missing.err


@pytest.mark.parametrize("options", [[], ["--resume"]])
def test_without_a_server_and_a_record_nothing_is_written(run, gold, tmp_path, options):
    out = tmp_path / "out"
    refused = run(
        "prompt", "--data", gold, "--llm", "stub", "--out", out, "--types", "ADR", *options
    )
    assert refused.code == 2
    assert "name one with --base-url" in refused.err
    assert not out.exists()


def test_similar_examples_need_examples(run, gold, tmp_path):
    refused = run("prompt", "--data", gold, "--llm", "x", "--out", tmp_path / "out", "--similar")
    assert (refused.code, refused.err) == (2, "error: --similar needs --shots\n")


def test_predictions_of_an_earlier_sample_go(command, tmp_path):
    """But for what stands beside them."""
    folder = tmp_path / "out" / "zero-shot" / "predictions"
    with serving(answers) as stub:
        assert command(stub.base_url, "--format", "brat").code == 0
        before = {path.stem for path in folder.iterdir()}
        (folder / "mine.md").write_text("mine")
        again = command(stub.base_url, "--format", "brat", "--resume", "--size", 2)
    assert again.code == 0, again.err
    documents = {path.stem for path in folder.iterdir()} - {"mine"}
    assert len(documents) == 2
    assert not documents & before
    assert (folder / "mine.md").read_text() == "mine"


def test_no_server_is_an_error_at_once(run, gold, tmp_path):
    given = ["--data", gold, "--llm", "stub", "--out", tmp_path / "out"]
    refused = run("prompt", *given, "--base-url", "http://127.0.0.1:9/v1")
    assert refused.code == 1
    assert "http://127.0.0.1:9/v1: no server answers there" in refused.err


def test_answers_that_are_a_fifo_are_refused(command, tmp_path):
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "answers.jsonl")
    result = command("http://127.0.0.1:9/v1", "--resume")
    assert (result.code, result.out) == (2, "")
    assert "answers.jsonl: is not a regular file" in result.err
