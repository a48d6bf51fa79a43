"""The model that ships with the package: trained, exported, scored, described.

    python scripts/bundled_model.py --corpus SPL-ADR        (or: make bundled-model CORPUS=SPL-ADR)

SPL-ADR is a folder with the parts `train`, `dev` and `test` of the corpus. An interrupted training
goes on where it stopped; what is finished is not done again. Takes an hour and a half on one core.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trigner.corpora import read, with_types
from trigner.evaluation import calibration_error, predictions, score, sign, together
from trigner.inference import load
from trigner.integrations import model_card
from trigner.mentions import Document
from trigner.model_folder import BUNDLED, CARD, Provenance, describe_again, read_description
from trigner.tagging.exporting import export

HERE = Path(__file__).parent
SETTINGS = HERE / "bundled.yaml"
MINI_ADR = HERE.parent / "data" / "mini-adr"
MOST_BYTES = 30_000_000

DATA = (
    "adverse reactions in sections of FDA drug labels: SPL-ADR-200db, courtesy of the U.S. National"
    " Library of Medicine; Demner-Fushman et al., A dataset of 200 structured product labels"
    " annotated for adverse drug reactions, Scientific Data 5, 180001 (2018)."
    " Split by drug: 69 to train on, 12 for dev, 20 for test"
)
LICENCE = "apache-2.0"
TEXTS = {
    "# A trigner model": "# Adverse reactions: the model that ships with trigner",
    'trigner.load("folder/of/this/model")': "trigner.load()",
    "Pain and cramping in my hands and lower legs.": (
        "Patients reported headache and swelling of the face, lips and tongue."
    ),
    "It was trained on one kind of text and is untested on others.": (
        "It was trained on drug labels. Elsewhere it finds far less: see mini-adr test, a made-up"
        " corpus\n  of forum posts, notes and labels."
    ),
}
"""What a card says of any model, and this one's says instead."""
RECIPE = "make bundled-model CORPUS=SPL-ADR"


def train(corpus: Path, out: Path) -> None:
    """A model in `out`; nothing is done when its training is over."""
    command = [sys.executable, "-m", "trigner", "train", "--out", str(out), "--config"]
    command += [str(SETTINGS), "--train", str(corpus / "train"), "--dev", str(corpus / "dev")]
    subprocess.run([*command, *(["--resume"] if out.exists() else [])], check=True)


def scored(model: Path, documents: Sequence[Document]) -> dict[str, Any]:
    """What the card says about an exported model on some documents, of the model's types only."""
    extract = load(model, device="cpu")
    own = with_types(documents, extract.labels)
    found = list(extract.documents(own))
    scores = score(own, found)
    return {
        "documents": len(own),
        "scores": scores.slices.as_json(),
        "unreachable": scores.unreachable,
        "calibration_error": calibration_error(together(predictions(own, found).values())),
        "signature": sign(own),
    }


def describe(model: Path, corpus: Path) -> None:
    """Write scores, data and licence into an exported model's folder, and its card."""
    description = read_description(model)
    provenance = {
        **description.provenance.model_dump(exclude_defaults=True),
        "data": DATA,
        "licence": LICENCE,
        "recipe": RECIPE,
        "spl-adr test": scored(model, read(corpus / "test").documents),
        "mini-adr test": scored(model, read(MINI_ADR / "test").documents),
    }
    changes = {"provenance": Provenance.model_validate(provenance)}
    description = description.model_copy(update=changes)
    describe_again(model, description)
    card = model_card(description)
    for general, own in TEXTS.items():
        assert general in card
        card = card.replace(general, own)
    (model / CARD).write_text(card, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder of spl-adr")
    parser.add_argument("--runs", type=Path, default=Path("runs/bundled"))
    options = parser.parse_args()
    trained, small = options.runs / "trained", options.runs / "int8"
    train(options.corpus, trained)
    shutil.rmtree(small, ignore_errors=True)
    export(trained, small, int8=True)
    describe(small, options.corpus)
    size = sum(path.stat().st_size for path in small.iterdir())
    if size > MOST_BYTES:
        raise SystemExit(f"{small}: {size:,} bytes are more than the {MOST_BYTES:,} that may ship")
    shutil.rmtree(BUNDLED, ignore_errors=True)
    shutil.copytree(small, BUNDLED)
    print(f"{BUNDLED}: {size:,} bytes")


if __name__ == "__main__":
    main()
