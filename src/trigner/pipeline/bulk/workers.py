"""Who annotates the batches: this process, or actors of Ray on one machine or many."""

from __future__ import annotations

import os
import re
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

import pyarrow as pa

from trigner.errors import InputError, TrignerError, first_line, require_extra
from trigner.pipeline import RunStatistics
from trigner.pipeline.bulk.reading import BYTES, RowBatch
from trigner.pipeline.bulk.tables import ADDED

Annotated = tuple[pa.Table, RunStatistics]
Annotate = Callable[[pa.Table], Annotated]
"""A table with the column `text` -> `entities` and `error` of its rows."""

DEATHS = 2
"""So often may a batch end its worker. Then it is halved, until the row is found that does it."""

PATIENCE = 30.0
"""Seconds without any worker after which that is reported."""

CONNECTING = 5.0
"""Seconds to reach a cluster in."""


class Workers(Protocol):
    """Annotate batches, several at a time, and give each when it is done."""

    def annotated(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, Annotated]]:
        """Every row of the batches, in any order; a batch may come in pieces."""


class InProcess:
    """No workers but this process."""

    def __init__(self, annotate: Annotate) -> None:
        self._annotate = annotate

    def annotated(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, Annotated]]:
        for batch in batches:
            yield batch, self._annotate(_table(batch))


class Actors:
    """Actors of Ray, each with a model of its own and one batch at a time.

    One that ends, alone or with its machine, is replaced, and its batch given to another.
    """

    def __init__(
        self,
        annotate: Annotate,
        number: int,
        *,
        gpu: bool = False,
        report: Callable[[str], object] = lambda message: None,
    ) -> None:
        self._ray: Any = import_module("ray")
        self._number = number
        self._report = report
        self._needs = "1 CPU and 1 GPU" if gpu else "1 CPU"
        self._actor = self._ray.remote(num_cpus=1, num_gpus=1 if gpu else 0)(_Actor)
        self._annotate = self._ray.put(annotate)
        self._awaited: dict[Any, tuple[Any, RowBatch | None]] = {}
        """By what is awaited the actor and its batch, None while it loads its model."""
        self._idle: list[Any] = []
        self._again: deque[RowBatch] = deque()
        self._deaths: Counter[tuple[int, int, int]] = Counter()
        self._bad_starts = 0

    def annotated(self, batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, Annotated]]:
        remaining = iter(batches)
        for _ in range(self._number):
            self._start()
        try:
            while True:
                self._give(remaining)
                if self._idle and not self._is_working:
                    return
                yield from self._next_done()
        finally:
            for actor in [*self._idle, *(actor for actor, _ in self._awaited.values())]:
                self._ray.kill(actor)

    @property
    def _is_working(self) -> bool:
        return any(batch is not None for _, batch in self._awaited.values())

    def _start(self) -> None:
        actor = self._actor.remote()
        self._awaited[actor.begin.remote(self._annotate)] = actor, None

    def _give(self, remaining: Iterator[RowBatch]) -> None:
        """Work for those that have none."""
        while self._idle:
            batch = self._again.popleft() if self._again else next(remaining, None)
            if batch is None:
                return
            actor = self._idle.pop()
            self._awaited[actor.annotate.remote(_table(batch))] = actor, batch

    def _next_done(self) -> Iterator[tuple[RowBatch, Annotated]]:
        done, _ = self._ray.wait(list(self._awaited), timeout=PATIENCE)
        if not done and not self._is_working:
            free = self._ray.available_resources()
            what = ", ".join(f"{free.get(name, 0):g} {name}" for name in ("CPU", "GPU"))
            self._report(
                f"no worker has started yet: each worker needs {self._needs}; free: {what};"
                " still waiting"
            )
        for each in done:
            actor, batch = self._awaited.pop(each)
            try:
                result = self._ray.get(each)
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, TrignerError):
                    raise error.cause from None
                raise _failure(error, is_loading=batch is None) from error
            except self._ray.exceptions.RayError as error:
                self._ray.kill(actor)
                self._replace(batch, error)
                if batch is not None:
                    yield from self._again_or_error(batch)
                continue
            self._idle.append(actor)
            if batch is None:
                self._bad_starts = 0
            else:
                yield batch, result

    def _replace(self, batch: RowBatch | None, error: Exception) -> None:
        """Another actor for one that ended, unless they end while they load the model.

        One that ended with a batch had loaded it; how often a batch may do that is limited, too.
        """
        self._bad_starts += batch is None
        if batch is not None or self._bad_starts <= DEATHS * self._number:
            self._start()
        elif not self._awaited and not self._idle:
            reason = first_line(error)
            raise TrignerError(f"the workers stopped while loading the model: {reason}")

    def _again_or_error(self, batch: RowBatch) -> Iterator[tuple[RowBatch, Annotated]]:
        key = (batch.source, batch.first, batch.rows)
        self._deaths[key] += 1
        if self._deaths[key] < DEATHS:
            self._again.append(batch)
        elif batch.rows > 1:
            middle = batch.rows // 2
            self._again += [batch.slice(0, middle), batch.slice(middle, batch.rows)]
        else:
            yield batch, (_error(f"{DEATHS} workers stopped while reading it"), RunStatistics())


def _failure(error: Any, *, is_loading: bool) -> TrignerError:
    """What another error than ours on a worker is for the user: Ray's has the traceback."""
    cause = error.cause
    why = str(cause).strip().partition("\n")[0]
    kind = type(cause).__name__
    what = "cannot load the model" if is_loading else "failed"
    machine = re.search(r"\bip=([^,\s)]+)", str(error))  # which Ray says nowhere else
    where = f" on {machine[1]}" if machine else ""
    return TrignerError(f"a worker{where} {what}: {kind}{why and ': ' + why}")


class _Actor:
    """What an actor does: it annotates tables with a model that it loads when it begins."""

    def begin(self, annotate: Annotate) -> None:
        self._annotate = annotate
        annotate(pa.table({"text": pa.array([], pa.string())}))

    def annotate(self, table: pa.Table) -> Annotated:
        return self._annotate(table)


@contextmanager
def ray_session(*, address: str | None, workers: int, gpu: bool = False) -> Iterator[int]:
    """A connection to the cluster at an address, or Ray on this machine for so many workers.

    Gives the CPUs that there are. A session that this process has already is used and stays.
    Raises TrignerError when Ray is not installed, there is no cluster at the address, or this
    machine is to have GPUs and has none; a cluster may get them later.
    """
    require_extra("scale", "ray")
    # Ray reports its use to its maker unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = import_module("ray")  # which says little about its types
    own = not ray.is_initialized()
    if own:
        options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if address is None:
            # What is under way, several times over; Ray wants no less than 75 MiB.
            store = max(100 * 2**20, 20 * workers * BYTES)
            options |= {"num_cpus": workers, "object_store_memory": store}
            # Without an address Ray would take that of RAY_ADDRESS, or a cluster that runs here.
            options |= {"include_dashboard": False, "address": "local"}
        else:
            _check_reachable(address)
            options["address"] = address
        try:
            ray.init(**options)
        except Exception as error:  # also a mere start that took too long
            ray.shutdown()
            reason = first_line(error)
            if "InvalidAuthToken" in f"{error} {error.__cause__}":
                reason = "the cluster requires a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
            where = "on this machine" if address is None else f"at {address}"
            raise TrignerError(f"Ray cannot be used {where}: {reason}") from error
    try:
        resources = ray.cluster_resources()
        if gpu and address is None and not resources.get("GPU"):
            raise TrignerError("--gpu: Ray finds no GPU on this machine")
        yield int(resources.get("CPU", 0))
    finally:
        if own:
            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raises TrignerError when nobody answers at an address: Ray itself takes long to say so."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        message = "expects host:port of a Ray head node, or auto on a cluster node"
        raise InputError(f"--address {message}, got {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECTING).close()
    except (OSError, OverflowError) as error:
        raise TrignerError(f"no Ray cluster answers at {address}: {error}") from error


def _table(batch: RowBatch) -> pa.Table:
    return pa.table([batch.texts], names=["text"])


def _error(reason: str) -> pa.Table:
    """The result of a row of which nobody could read the text."""
    return pa.table([pa.array([None], ADDED[0].type), [reason]], schema=pa.schema(ADDED))
