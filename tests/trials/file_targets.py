"""Files that people edit and that crashes leave: settings, studies, records of what was done."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

from study_results import STUDY
from trials.reader_targets import BETWEEN, TEXT
from trials.targets import Target

ASSIGNMENTS = (
    *("optimisation.epochs=5", "triplets.window=none", "system=mac", "model.lstm_size=[1, 2]"),
    *("encoder=biobert", "sampling.conjunctions=[and, or]", "seed=1", "model={lstm_size: 3}"),
    *(
        "task.negative_rate=0.5",
        "system=hypergraph",
        "optimisation.cell_budget=null",
        "model.mac.size=2",
    ),
)
ANSWER = """Here are the entities: ```json
[{"text": "left arm numb", "type": "ADR", "words": [1, 2, 6]}, {"entity": "Xyl", "label": "Drug"}]
``` Hope this helps."""
STUDIES = (
    STUDY.encode(),
    b"title: S\ncorpus: c\nsearch:\n  trials: 3\n  ranges:\n"
    b"    optimisation.batch_size: {choices: [1, 2]}\n"
    b"    optimisation.learning_rate: {low: 0.001, high: 0.1, log: true}\nseeds: [1]\n",
    b"title: &a x\nabout: *a\nsystems: {one: {system: mac}, two: {adapt: true}}\nseeds: [1, 2]\n",
)
SETTINGS = (
    b"preset: clean\nsystem: w2ner\noptimisation: {epochs: 3, batch_size: 2}\n"
    b"triplets: {weight: 0.1}\n",
    b"system: mac\nmodel:\n  mac: {size: 12, span_reach: null}\nseed: 7\ntriplets: {weight: 0}\n",
)
SENTENCE = {
    "document": "d", "sentence": 0, "types": ["ADR"], "words_sha256": "0" * 64,
    "predicted": [{"index": [0, 2], "type": "ADR"}],
}  # fmt: skip


def file(kind: str, folder: Path) -> Target:
    """What reads a kind of file."""
    return MADE[kind](folder)


def settings(folder: Path) -> Target:
    from trigner.training.settings import resolve

    def check(path: Path) -> None:
        resolve(file=path)

    return _of_file(folder / "settings.yaml", SETTINGS, check)


def assignment(_: Path) -> Target:
    from trigner.training.settings import resolve

    def check(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        resolve(assignments=text.split("\n"))

    return Target([line.encode() for line in ASSIGNMENTS], check)


def study(folder: Path) -> Target:
    from trigner.lab.studies.declaration import read_study
    from trigner.lab.studies.grid import runs
    from trigner.lab.studies.protocols import protocol

    def check(path: Path) -> None:
        found = read_study(path)
        if found.search is None:
            list(runs(found, protocol(found.protocol)))

    return _of_file(folder / "study.yaml", STUDIES, check)


def result(folder: Path) -> Target:
    from trigner.lab.studies.results import read_results

    made = _kept(folder, None)

    def check(data: bytes) -> None:
        made.write_bytes(_on_a_line(data))
        for found in read_results(folder, "c"):
            found.is_of({"seed": 1}, {"train": "0"})

    return Target([made.read_bytes()], check)


def _kept(folder: Path, found: str | None) -> Path:
    """The file of a small result."""
    from trigner.lab.studies.results import Chosen, Result, write_result
    from trigner.training.settings import resolve

    scores = {"overall": {"gold": 1, "predicted": 1, "correct": 1, "f1": 1.0}}
    made = Result(
        name="r", system="s", corpus="c", protocol="full", seed=1, settings=resolve().identity(),
        data={"train": "0"}, train={}, parameters=1, epochs=1, seconds=1.0, device="cpu",
        signature="x", chosen={"overall": Chosen(1, scores, scores)}, found=found,
    )  # fmt: skip
    path = write_result(made, folder).path
    assert path is not None
    return path


def predictions(folder: Path) -> Target:
    from trigner.lab.studies.results import read_results

    content = {
        "sentences": 2,
        "counts": {name: [[0, 1, 1, 1]] for name in _slices()},
        "entities": {"d": [["ADR", [0, 4], [6, 8], 0.5]]},
    }
    made = _kept(folder, json.dumps({"overall": content}))
    whole = made.read_bytes()
    made.unlink()

    def check(data: bytes) -> None:
        # Damage within the compressed bytes is one kind of input, other content another.
        whole = zlib.crc32(data) % 8
        packed = lzma.compress(_on_a_line(data), preset=0) if whole else data
        (folder / "c.jsonl.xz").write_bytes(packed)
        for found in read_results(folder, "c"):
            found.predictions()

    return Target([whole, lzma.compress(whole)], check)


def _on_a_line(data: bytes) -> bytes:
    """Values as results are written; what is no JSON as it is."""
    try:
        return json.dumps(json.loads(data), separators=(",", ":")).encode() + b"\n"
    except (ValueError, RecursionError):
        return data


def _slices() -> tuple[str, ...]:
    from trigner.evaluation.sentence_counts import SLICES

    return tuple(SLICES)


def sentences(folder: Path) -> Target:
    from trigner.lab.prompting.sentences import read_sentences

    seed = json.dumps(SENTENCE).encode() + b"\n"
    return _of_file(folder / "s.jsonl", [seed, seed * 3], lambda path: list(read_sentences(path)))


def answers(folder: Path) -> Target:
    from trigner.lab.prompting.cache import _FIELDS, CompletionCache

    seed = json.dumps({"key": "0" * 64, **dict.fromkeys(_FIELDS, "x")}).encode() + b"\n"
    return _of_file(folder / "a.jsonl", [seed, seed * 3], CompletionCache)


def record(folder: Path) -> Target:
    from trigner.training.records import RUN, record_to_resume, write_record

    run = {"settings": {"seed": 1}, "data": {"train": "0"}}
    path = folder / RUN
    write_record(path, {**run, "finished": 1, "history": []})
    return _of_file(path, [path.read_bytes()], lambda path: record_to_resume(folder, run))


def partial(folder: Path) -> Target:
    from trigner.cli.partial import Output, begun
    from trigner.corpora.formats import FORMATS
    from trigner.mentions import Document

    output = Output(folder / "out", FORMATS["jsonl"])
    made_with = {"model": "0", "threshold": 0.5}
    state = {"made_with": {"trigner": _version(), **made_with}, "overwrite": False}
    lines = (json.dumps({"id": "a", "text": TEXT}), json.dumps({"id": "b", "text": "no pain"}))
    seed = json.dumps({**state, "complete": False}).encode() + b"\n" + "\n".join(lines).encode()

    def check(data: bytes) -> None:
        rmtree(folder)
        folder.mkdir()
        head, _, rest = data.partition(b"\n")
        output.record.write_bytes(head)
        output.partial.write_bytes(rest)
        with begun(output, made_with, resume=True, overwrite=False) as journal:
            list(journal.remaining([Document("a", TEXT), Document("b", "no pain")]))

    return Target([seed, seed[:-9]], check)


def _version() -> str:
    from trigner import __version__

    return __version__


def checkpoint(folder: Path) -> Target:
    from transformers import TrainerControl, TrainerState, TrainingArguments
    from transformers.trainer_callback import DefaultFlowCallback

    from trigner.training.checkpoints import last_checkpoint

    args = TrainingArguments(output_dir=str(folder), report_to="none")

    def go_on(state: TrainerState) -> None:
        """What follows an update, and the epochs so far."""
        DefaultFlowCallback().on_step_end(args, state, TrainerControl())
        round(state.epoch)
        max((entry["eval_f1"] for entry in state.log_history if "eval_f1" in entry), default=0)
        (state.global_step + 1) // max(1, state.max_steps)
        state.save_to_json(str(folder / "state.json"))

    own = folder / "checkpoint-3"
    history = [{"epoch": 1.0, "step": 3, "eval_f1": 0.5, "eval_discontinuous_f1": 0.0}]
    state = {"global_step": 3, "epoch": 1.0, "max_steps": 9, "log_history": history}
    whole = json.dumps({**state, "logging_steps": 20, "best_metric": 0.5, "total_flos": 0}).encode()

    def check(data: bytes) -> None:
        own.mkdir(exist_ok=True)
        head, _, rest = data.partition(b"\n")
        hashes = own / "hashes.json"
        hashes.unlink(missing_ok=True)
        if head:  # one that was cut off before them has none
            hashes.write_bytes(head)
        (own / "trainer_state.json").write_bytes(rest)
        if last_checkpoint(folder) is None:
            return  # cut off: it is gone, and training begins anew
        go_on(TrainerState.load_from_json(str(own / "trainer_state.json")))

    return Target([b'{"../x": "0"}\n' + whole, b"{}\n" + whole, b"\n" + whole], check)


def job(folder: Path) -> Target:
    """What `annotate` leaves in the folder of its output."""
    from trigner.pipeline.bulk.output import JOB, JOURNAL, STATE, SUCCESS, begun

    out = folder / "out"
    made_with = {"--model": "0", "input": [["a.csv", "0"]]}
    counts = {"parts": 1, "rows": 2, "entities": 1, "errors": 0, "statistics": {}}
    about = {"part": "part-0.jsonl", "source": 0, "first": 0, "counts": counts}
    known = {"trigner": _version(), **made_with}
    parts = ([known], [about, {"complete": 0}], [{"rows": 2, "complete": True}])
    seed = BETWEEN.join("".join(json.dumps(v) + "\n" for v in own).encode() for own in parts)

    def check(data: bytes) -> None:
        rmtree(out, ignore_errors=True)
        (out / STATE).mkdir(parents=True)
        (out / "part-0.jsonl").write_bytes(b"")
        names = (f"{STATE}/{JOB}", f"{STATE}/{JOURNAL}", SUCCESS)
        for name, content in zip(names, data.split(BETWEEN, 2), strict=False):
            (out / name).write_bytes(content)
        with begun(out, made_with, format="jsonl"):
            pass

    return Target([seed, BETWEEN.join(seed.split(BETWEEN)[:2])], check)


def vocabulary(folder: Path) -> Target:
    from trigner.linking.vocabulary import read_vocabulary

    seeds = (
        b"code,name,synonyms\n1,Rash,red skin|spots\n2,Pain,\n1,Eruption,\n",
        b'Name;Code;kind\n"A; b";7;x\n',
    )
    return _of_file(folder / "v.csv", seeds, read_vocabulary)


def answer(_: Path) -> Target:
    """What a language model says."""
    from trigner.lab.prompting.alignment import REPAIRS, align
    from trigner.lab.prompting.parsing import parse

    words = TEXT.split()

    def check(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        for item in parse(text).items:
            for repair in REPAIRS:
                found = align(item, words, repair)
                assert found is None or all(0 <= n < len(words) for n in found), found

    return Target([ANSWER.encode(), b"[]", b"None.", ANSWER.encode()[30:90]], check)


def _of_file(path: Path, seeds: object, read: Callable[[Path], object]) -> Target:
    def check(data: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        read(path)

    return Target(list(seeds), check)


MADE: dict[str, Callable[[Path], Target]] = {
    "settings": settings,
    "assignment": assignment,
    "study": study,
    "result": result,
    "predictions": predictions,
    "sentences": sentences,
    "answers": answers,
    "record": record,
    "partial": partial,
    "checkpoint": checkpoint,
    "answer": answer,
    "job": job,
    "vocabulary": vocabulary,
}
