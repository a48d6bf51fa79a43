"""A sentence of 400 words, in windows of 200, at the worst that a system of default size may find.

Each in a fresh process, on one thread. Seconds are the processor's, from scoring the windows to
their mentions; megabytes are the process's peak above what was resident before, with the model
loaded and a short sentence read. Bounds are three times what was measured or more (transition 7 s,
90 MB; spans 2 s, 190 MB; seq2seq 18 s, 180 MB; hypergraph 4 s, 70 MB; segments 1 s, 20 MB;
generative 15 s, 170 MB), for slower machines and other allocators: they tell of a search that has
lost its bound, and of no small change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from tiny_language_models import tiny_language_model
from tiny_parsers import LABELS, TEXT, sentence
from trigner.families.seq2seq.automaton import FIRST_TYPE
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

SECONDS = 60
MEGABYTES = {
    "transition": 300,
    "spans": 600,
    "seq2seq": 600,
    "hypergraph": 300,
    "segments": 100,
    "generative": 600,
}
BENCHMARKS = Path(__file__).resolve().parents[2] / "research/benchmarks"


@pytest.mark.parametrize("system", MEGABYTES)
def test_400_words_take_bounded_time_and_memory(system, encoder_of, tmp_path):
    if system == "generative":
        encoder = tiny_language_model(tmp_path / "model", "llama", positions=8000)
    else:
        encoder = encoder_of(positions=512)
    path = [str(BENCHMARKS), *(p for p in sys.path if p)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, system, str(encoder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["windows"] == [200, 200, 100]
    assert all(found["mentions"])
    assert all(found["bounded"])
    assert found["seconds"] < SECONDS
    assert found["megabytes"] < MEGABYTES[system]


def read_at_worst(name, encoder):
    """Prints what a fresh system takes and finds."""
    from speed.memory import measured

    torch.manual_seed(1)
    settings = resolve(options={"system": name, "encoder": encoder})
    system = system_spec(name).implementation("build")(settings, LABELS)
    with torch.no_grad():
        {
            "transition": copy_and_swap,
            "spans": relate_all,
            "seq2seq": never_end,
            "hypergraph": take_all,
            "segments": combine_all,
            "generative": write_on,
        }[name](system.network)
    predictor = system.predictor("cpu")
    predictor.predict(predictor.prepare([sentence("my left leg hurt")]).inputs)
    inputs = predictor.prepare([sentence(" ".join([TEXT] * 25))]).inputs
    predictions = []
    start = time.process_time()
    peak = measured(lambda: predictions.extend(predictor.predict(inputs)))
    print(
        json.dumps(
            {
                "windows": [own.length for own in inputs],
                "mentions": [len(own.mentions) for own in predictions],
                "bounded": [own.bounded for own in predictions],
                "seconds": time.process_time() - start,
                "megabytes": peak.growth,
            }
        )
    )


def copy_and_swap(network):
    """Nothing is completed while the stack can be copied or swapped."""
    network.output.weight.zero_()
    network.output.bias.copy_(torch.tensor([5.0, 0, 2, 3, 4, 6, 6, 0, 0]))


def relate_all(network):
    """Every span is a fragment; words alone are kept, and most of them combined with each other."""

    def narrow_first(words, widths, last):
        width = (last - last[:, :1])[None, :, :, None]
        return torch.rand(len(words), *last.shape, 1) - width

    def mostly_combined(vectors, counts):
        batch, kept, _ = vectors.shape
        return torch.randn(batch, kept, kept, 2) + torch.tensor([1.0, -3.0])

    network.fragments.output.weight.zero_()
    network.fragments.output.bias.fill_(5)
    network.pruner.all_spans = narrow_first
    network.relations.forward = mostly_combined


def never_end(network):
    """An output goes through the sets of words, and ends where nothing else may be written."""
    from trigner.families.seq2seq.automaton import END

    plain = network.next_scores

    def lasting(*arguments):
        scores = plain(*arguments)
        scores += torch.linspace(100, 0, scores.shape[2])
        scores[..., END] = -1e6
        return scores

    network.next_scores = lasting


def take_all(network):
    """The best structure has every edge."""
    network.start.bias.fill_(5)
    network.edge.bias.fill_(5)


def combine_all(network):
    """All segments are found, and every combination of them is a mention."""
    network.start.bias.fill_(5)
    network.on.bias.fill_(5)
    network.segments.output.bias[: network.shape[0]] = 5
    network.readout.bias.fill_(5)


def write_on(network):
    """A text goes through the sets of words, as long as it may become."""
    from trigner.families.generative.writing import Writing

    plain = Writing.allowed

    def next_word(self, text):
        allowed = plain(self, text)
        first = {id: min(self._next(place)) for id, place in allowed.items()}
        words = [id for id in first if first[id] >= FIRST_TYPE + len(LABELS)]
        chosen = min(words or allowed, key=first.get)
        return {chosen: allowed[chosen]}

    Writing.allowed = next_word


if __name__ == "__main__":
    read_at_worst(*sys.argv[1:])
