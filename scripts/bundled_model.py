"""The model that ships with the package: trained, exported, scored, described.

    python scripts/bundled_model.py --spl-adr FOLDER --psytar FOLDER
    (or: make bundled-model SPL_ADR=FOLDER PSYTAR=FOLDER)

FOLDER holds the parts `train`, `dev` and `test` of the corpus; the third corpus is `data/mini-adr`.
An interrupted training goes on where it stopped; what is finished is not done again. Takes two
hours on one core.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from trigner.corpora import read, with_types
from trigner.evaluation.calibration import calibration_error, predictions, together
from trigner.evaluation.scores import score
from trigner.evaluation.signature import sign
from trigner.families.tagging.exporting import export
from trigner.mentions import Document
from trigner.models.card import model_card
from trigner.models.folder import BUNDLED, CARD, Provenance, describe_again, read_description
from trigner.pipeline.loading import load
from trigner.training.run import train as train_model
from trigner.training.settings import resolve

HERE = Path(__file__).parent
SETTINGS = HERE / "bundled.yaml"
MINI_ADR = HERE.parent / "data" / "mini-adr"
MOST_BYTES = 30_000_000

TYPES = ("AdverseReaction",)

DATA = (
    "sections of FDA drug labels: SPL-ADR-200db, courtesy of the U.S. National Library of Medicine,"
    " Demner-Fushman et al., A dataset of 200 structured product labels annotated for adverse drug"
    " reactions, Scientific Data 5, 180001 (2018), split by drug, 69 to train on, 12 for dev, 20"
    " for test; patients' posts on four psychiatric drugs: PsyTAR, Zolnoori et al., The PsyTAR"
    " dataset, Data in Brief 24, 103838 (2019), CC BY 4.0; posts, notes and labels made up for this"
    " project: mini-adr"
)
"""Kinds of texts divided by `;`, each up to its colon: `Description.about` names them."""

LICENCE = "apache-2.0"
TEXTS = {
    "# A trigner model": "# Adverse reactions: the model that ships with trigner",
    'trigner.load("folder/of/this/model")': "trigner.load()",
    'for entity in extract("Pain and cramping in my hands and lower legs.").entities:': (
        'text = "Patients reported headache and swelling of the face, lips and tongue."\n'
        "for entity in extract(text).entities:"
    ),
    "It was trained on one kind of text and is untested on others.": (
        "It was trained on drug labels and on patients' posts about psychiatric drugs. The scores"
        " on either\n  say what to expect of texts like them; on other texts it may find less."
    ),
}
"""What a card says of any model, and this one's says instead."""
RECIPE = "make bundled-model SPL_ADR=FOLDER PSYTAR=FOLDER"


def part(corpora: Mapping[str, Path], name: str) -> list[Document]:
    """The documents of a part of all corpora, with the model's types only."""
    documents = []
    for corpus, folder in corpora.items():
        for document in with_types(read(folder / name).documents, TYPES):
            documents.append(replace(document, id=f"{corpus}/{document.id}"))
    return documents


def train(corpora: Mapping[str, Path], out: Path) -> None:
    """A model in `out`; nothing is done when its training is over."""
    train_model(
        resolve(file=SETTINGS),
        part(corpora, "train"),
        part(corpora, "dev"),
        out,
        device="cpu",
        resume=out.exists(),
        console=Console(),
    )


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


def describe(model: Path, corpora: Mapping[str, Path]) -> None:
    """Write scores, data and licence into an exported model's folder, and its card."""
    description = read_description(model)
    provenance = {
        **description.provenance.model_dump(exclude_defaults=True),
        "data": DATA,
        "licence": LICENCE,
        "recipe": RECIPE,
        **{
            f"{name} test": scored(model, read(folder / "test").documents)
            for name, folder in corpora.items()
        },
    }
    changes = {"provenance": Provenance.model_validate(provenance)}
    description = description.model_copy(update=changes)
    describe_again(model, description)
    card = model_card(description)
    for general, own in TEXTS.items():
        assert general in card
        card = card.replace(general, own)
    (model / CARD).write_text(card, encoding="utf-8")


def put_in_place(new: Path, place: Path) -> None:
    """Copy a folder beside its place, then let it take it: what stands there is always whole.

    The old one stays at `PLACE.previous` when that fails in between.
    """
    beside, old = (place.with_name(f"{place.name}.{end}") for end in ("new", "previous"))
    for left in (beside, *([old] if place.exists() else [])):
        if left.exists():
            shutil.rmtree(left)
    shutil.copytree(new, beside)
    if place.exists():
        place.rename(old)
    beside.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spl-adr", type=Path, required=True, help="folder of spl-adr")
    parser.add_argument("--psytar", type=Path, required=True, help="folder of psytar, as brat")
    parser.add_argument("--runs", type=Path, default=Path("runs/bundled"))
    options = parser.parse_args()
    trained, small = options.runs / "trained", options.runs / "int8"
    corpora = {"spl-adr": options.spl_adr, "psytar": options.psytar, "mini-adr": MINI_ADR}
    train(corpora, trained)
    shutil.rmtree(small, ignore_errors=True)
    export(trained, small, int8=True)
    describe(small, corpora)
    size = sum(path.stat().st_size for path in small.iterdir())
    if size > MOST_BYTES:
        raise SystemExit(f"{small}: {size:,} bytes are more than the {MOST_BYTES:,} that may ship")
    put_in_place(small, BUNDLED)
    print(f"{BUNDLED}: {size:,} bytes")


if __name__ == "__main__":
    main()
