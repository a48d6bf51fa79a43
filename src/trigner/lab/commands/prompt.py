"""`trigner prompt`."""

from __future__ import annotations

import json as json_module
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from trigner.cli import (
    Data,
    GoldOptions,
    Json,
    comma_list,
    counting,
    note,
    print_json,
    refuse_non_empty,
    results,
)
from trigner.corpora import Corpus
from trigner.errors import InputError, TrignerError
from trigner.lab.commands.prompt_report import (
    check_documents,
    check_outputs,
    print_report,
    write_results,
)
from trigner.lab.prompting import (
    DEFAULT_PARAMETERS,
    TOKEN_RULE,
    VARIANTS,
    CompletionCache,
    Endpoint,
    Prices,
    RetryPolicy,
    Task,
    Variant,
    VariantResult,
    build_requests,
    check_licence,
    check_reachable,
    endpoint,
    entity_types_of,
    estimate,
    prepare_task,
    run_variant,
)
from trigner.machine import check_folder, counted, flaw_of, locked
from trigner.mentions import shortened
from trigner.rendering import say

ANSWERS = "answers.jsonl"

_DEFAULTS = ", ".join(f"{name}={value}" for name, value in DEFAULT_PARAMETERS.items())
_BASE_URL = """OpenAI-compatible server, such as http://127.0.0.1:8000/v1. Without it, only recorded
answers are used."""
_STRATIFIED = """Only the sentences with discontinuous entities, at most as many with only others,
and at most as many with none."""
_SIZE = "At most N sentences, from the three groups of --stratified in turn."
_KEY = """Environment variable with the API key; by default OPENAI_API_KEY for OpenAI,
GEMINI_API_KEY for Gemini, else TRIGNER_LLM_API_KEY."""
_HTML = "Write a page with gold and all systems side by side; --resume overwrites it."
_PERMISSION = "The data's owner allows sending a credentialed corpus (ShARe) to others."

Text = str | None
Texts = list[str] | None


def prompt(
    data: Data,
    llm: Annotated[str, Option("--llm", metavar="NAME", help="Model name on the server.")],
    out: Annotated[Path, Option("--out", help="New folder for answers, predictions and scores.")],
    base_url: Annotated[Text, Option("--base-url", metavar="URL", help=_BASE_URL)] = None,
    shots: Annotated[int, Option("--shots", min=0, help="Examples in the prompt.")] = 0,
    explain: Annotated[bool, Option("--explain", help="Ask for the reasoning steps too.")] = False,
    all_variants: Annotated[
        bool, Option("--all-variants", help="0, 1 and 2 shots, each with and without --explain.")
    ] = False,
    train: Annotated[
        Path | None,
        Option("--train", help="Source of the examples; default with --split: part train."),
    ] = None,
    similar: Annotated[
        bool, Option("--similar", help="Use the examples most similar to each text.")
    ] = False,
    numbered: Annotated[bool, Option("--numbered", help="Number the words.")] = False,
    index_base: Annotated[
        bool, Option("--index-base", help="Say that indices start at 0.")
    ] = False,
    reason_first: Annotated[
        bool, Option("--reason-first", help="With --explain: steps before the answer.")
    ] = False,
    json_schema: Annotated[
        bool, Option("--json-schema", help="Make the server enforce a JSON schema.")
    ] = False,
    descriptor: Annotated[
        Texts, Option("--descriptor", metavar="TYPE=WORDS", help="Description of a type.")
    ] = None,
    stratified: Annotated[bool, Option("--stratified", help=_STRATIFIED)] = False,
    size: Annotated[int | None, Option("--size", metavar="N", min=1, help=_SIZE)] = None,
    seed: Annotated[int, Option("--seed", help="Seed of the sample and the examples.")] = 0,
    parameter: Annotated[
        Texts,
        Option(
            "--parameter",
            metavar="NAME=JSON",
            help=f"Request parameter, besides {_DEFAULTS}; null removes one.",
        ),
    ] = None,
    concurrency: Annotated[int, Option("--concurrency", min=1, help="Requests at a time.")] = 4,
    timeout: Annotated[float, Option("--timeout", min=1, help="Seconds per attempt.")] = 300,
    attempts: Annotated[int, Option("--attempts", min=1, help="Attempts per request.")] = 6,
    key_variable: Annotated[Text, Option("--key-variable", metavar="NAME", help=_KEY)] = None,
    resume: Annotated[
        bool, Option("--resume", help="Continue in --out; recorded answers are reused.")
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Send nothing: show a prompt, tokens and cost.")
    ] = False,
    prices: Annotated[
        Text, Option("--prices", metavar="IN,OUT", help="US dollars per million tokens.")
    ] = None,
    format: Annotated[str, Option("--format", help="Format of the predictions.")] = "jsonl",
    html: Annotated[Path | None, Option("--html", metavar="FILE", help=_HTML)] = None,
    compare: Annotated[
        list[str] | None,
        Option("--compare", metavar="MODEL", help="Trained model to add to --html; repeatable."),
    ] = None,
    json: Json = False,
    has_permission: Annotated[bool, Option("--i-have-permission", help=_PERMISSION)] = False,
    *,
    reading: GoldOptions,
) -> None:
    """Prompt a large language model for entities, and score it like any other system.

    Every raw answer is written to OUT/answers.jsonl as it arrives; --resume continues after an
    interruption. Scores are reported for the indices as given (strict) and with three repairs.

    Example:  trigner prompt --data test/ --train train/ --shots 2 --llm qwen
    --base-url http://127.0.0.1:8000/v1 --out runs/qwen
    """
    chosen = Variant(shots, explain, numbered, index_base, reason_first, json_schema)
    chosen = replace(chosen, examples="similar") if similar else chosen
    variants = _variants(chosen, all_variants=all_variants)
    parameters = _parameters(parameter)
    with nullcontext() if dry_run else _alone(out):
        if not resume and not dry_run:
            refuse_non_empty(out)
        names, may_exist = [variant.name for variant in variants], resume or dry_run
        models = check_outputs(html, compare or (), format, variants=names, may_exist=may_exist)
        server = None if base_url is None else endpoint(base_url, key_variable=key_variable)
        corpus = replace(reading, types=None).read(data)
        entity_types = entity_types_of(
            corpus.documents,
            format=corpus.format,
            types=comma_list(reading.types),
            descriptors=_pairs(descriptor, "--descriptor"),
        )
        training = None
        if any(variant.shots for variant in variants):
            training = _training(train, data, replace(reading, types=None))
            _check_disjoint(corpus, training)
        task = prepare_task(
            corpus, entity_types, train=training, stratified=stratified, size=size, seed=seed
        )
        if not task.sentences:
            raise InputError("contains no sentences", path=data)
        check_documents(task.documents, out, format=format)
        cache = _answers(out)
        if dry_run:
            _print_estimate(task, variants, llm, parameters, cache, server, prices, json=json)
            return
        check_licence(task.corpora, server, has_permission=has_permission)
        requests = (r for v in variants for r in build_requests(task, v, llm, parameters))
        _check_server(server, map(cache.get, requests), out)
        runs: list[VariantResult] = []
        for variant in variants:
            with counting(f"{variant.name} of {llm}") as on_progress:
                run = run_variant(
                    task,
                    variant,
                    cache,
                    server,
                    model=llm,
                    parameters=parameters,
                    retry_policy=RetryPolicy(timeout=timeout, max_attempts=attempts),
                    concurrency=concurrency,
                    has_permission=has_permission,
                    on_progress=on_progress,
                )
            runs.append(run)
            note(_notices(run))
            if run.summary.stopped is not None:
                break
        write_results(task, runs, out, format=format, html=html, models=models, may_exist=may_exist)
        if json:
            print_json({run.variant.name: run.as_json() for run in runs})
        else:
            print_report(task, runs)
        _check_complete(runs, len(variants), out)


def _check_server(server: Endpoint | None, recorded: Iterable[object | None], out: Path) -> None:
    """Raises InputError when nothing could be asked and nothing is recorded, or as the server."""
    if server is not None:
        if None in recorded:
            check_reachable(server)
    elif all(answer is None for answer in recorded):
        nothing = f"{out} has no answer to these prompts, and there is no server to ask"
        raise InputError(f"{nothing}: name one with --base-url")


def _answers(out: Path) -> CompletionCache:
    """The answers that are there already."""
    cache = CompletionCache(out / ANSWERS)
    if cache.damaged:
        note([f"{cache.path}: {counted(cache.damaged, 'incomplete line')} skipped"])
    return cache


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Keep other processes out of a folder, in which they would ask everything once more.

    Raises InputError when another one is in it, and for what cannot be such a folder.
    """
    check_folder(out)
    folder = Path(os.path.realpath(out))  # one lock, by whatever name it is called
    if not folder.name:
        raise InputError("is the root of the file system: choose a new folder", path=out)
    busy = "another process is prompting here: wait for it, or choose another --out"
    lock = folder.with_name(f"{folder.name}.lock")
    with locked(lock, remove=True, busy=InputError(busy, path=out)):
        yield


def _variants(chosen: Variant, *, all_variants: bool) -> tuple[Variant, ...]:
    if chosen.examples == "similar" and not (chosen.shots or all_variants):
        raise InputError("--similar needs --shots")
    if chosen.reason_first and not (chosen.explain or all_variants):
        raise InputError("--reason-first needs --explain")
    if not all_variants:
        return (chosen,)
    if chosen.shots or chosen.explain:
        raise InputError("--all-variants replaces --shots and --explain: omit them")
    return tuple(replace(chosen, shots=v.shots, explain=v.explain) for v in VARIANTS)


def _pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for pair in given or ():
        name, _, value = pair.partition("=")
        if not name or not value:
            raise InputError(f"{option} takes NAME=VALUE; got {pair!r}")
        pairs[name] = value
    return pairs


def _parameters(given: Sequence[str] | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for name, value in _pairs(given, "--parameter").items():
        if name in ("model", "messages", "stream", "n"):
            raise InputError(f"--parameter cannot set {name!r}")
        try:
            parameters[name] = json_module.loads(value)
        except (ValueError, RecursionError) as error:
            shown = shortened(value)
            raise InputError(f"--parameter {name}: {shown} is not valid JSON") from error
        if flaw := flaw_of(parameters[name]):
            raise InputError(f"--parameter {name}: {flaw}")
    return parameters


def _training(train: Path | None, data: Path, reading: GoldOptions) -> Corpus:
    """The documents of `--train`; for a corpus that is read by parts, by default its part train."""
    if train is not None:
        return replace(reading, split=None).read(train)
    if reading.split in (None, "train"):
        raise InputError("--shots needs training documents to take examples from: add --train")
    return reading.read(data, split="train")


def _check_disjoint(data: Corpus, train: Corpus) -> None:
    """Raises InputError when a document is both asked about and a source of examples."""
    asked = {(document.id, document.text) for document in data.documents}
    if both := [d.id for d in train.documents if (d.id, d.text) in asked]:
        raise InputError(
            f"{counted(len(both), 'document is', 'documents are')} in both --data and --train,"
            f" such as {both[0]!r}: examples would give answers away"
        )


def _print_estimate(
    task: Task,
    variants: Sequence[Variant],
    model: str,
    parameters: Mapping[str, Any],
    cache: CompletionCache,
    server: Endpoint | None,
    prices: str | None,
    *,
    json: bool,
) -> None:
    per_million = _prices(prices)
    requests = [r for v in variants for r in build_requests(task, v, model, parameters)]
    missing = [request for request in requests if cache.get(request) is None]
    found = estimate(missing, [request for request in requests if cache.get(request) is not None])
    limit = found.completion_tokens
    cost = None if per_million is None else found.max_cost(per_million)
    sent_to = None if server is None or server.is_loopback else server.base_url
    if json:
        print_json(
            {
                "first_prompt": requests[0].prompt,
                "prompts": len(requests),
                "to_send": found.requests,
                "recorded": found.cached,
                "prompt_tokens": found.prompt_tokens,
                "max_answer_tokens": limit,
                "max_cost": cost,
                "sent_to": sent_to,
            }
        )
        return
    lines = [
        requests[0].prompt,
        "",
        f"The first of {len(requests):,} prompts; {found.requests:,} would be sent,"
        f" {found.cached:,} have a recorded answer",
        f"prompt tokens: about {found.prompt_tokens:,} ({TOKEN_RULE})",
        f"answer tokens: {'no limit' if limit is None else f'{limit:,} at most'}",
    ]
    if per_million is not None:
        lines.append(f"cost: {'no limit' if cost is None else f'{cost:,.2f} US dollars at most'}")
    if sent_to is not None:
        lines.append(f"texts would be sent to {sent_to}")
    for line in lines:
        say(results(), line)


def _prices(given: str | None) -> Prices | None:
    if given is None:
        return None
    try:
        of_prompt, of_completion = (float(part) for part in given.split(","))
    except ValueError as error:
        raise InputError(f"--prices takes two numbers, such as 2.5,10; got {given!r}") from error
    if not (0 <= of_prompt < float("inf") and 0 <= of_completion < float("inf")):
        raise InputError(f"--prices takes non-negative numbers; got {given!r}")
    return Prices(of_prompt, of_completion)


def _notices(run: VariantResult) -> list[str]:
    name, summary = run.variant.name, run.summary
    reasons = Counter(summary.failed.values())
    return [
        f"{name}: {summary.completed} answered, {summary.cached} reused from the record",
        *(f"{name}: {count} without an answer: {reason}" for reason, count in reasons.items()),
    ]


def _check_complete(runs: Sequence[VariantResult], wanted: int, out: Path) -> None:
    """Raises TrignerError when requests are left without an answer; all others are written."""
    stopped = runs[-1].summary.stopped
    unanswered = sum(len(run.summary.failed) for run in runs)
    if stopped is not None:
        others = wanted - len(runs)
        number = counted(others, "more variant was", "more variants were")
        more = f"; {number} not started" if others else ""
        raise TrignerError(
            f"{stopped}{more}. The answers so far are in {out}: continue with --resume"
        )
    if unanswered:
        raise TrignerError(
            f"{counted(unanswered, 'request')} without an answer, counted as finding nothing; the"
            f" other answers are in {out}: --resume with --base-url asks again"
        )
