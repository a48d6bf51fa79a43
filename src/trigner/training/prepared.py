"""A training that is about to begin, and all that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from trigner.encoders import bfloat16_notice
from trigner.evaluation import Scores, score
from trigner.mentions import Document
from trigner.models import Description, Provenance, save_model
from trigner.pipeline import Extractor
from trigner.systems import OptimisationSettings, SelectBy, System, checked_predictor, system_spec
from trigner.training.best_epoch import KeepBest, ScoreEvery
from trigner.training.data import EpochBatches, TrainingData
from trigner.training.processes import Processes
from trigner.training.progress import ShowProgress
from trigner.training.settings import Settings
from trigner.training.trainer import FIGURES, LOGS, SystemTrainer, training_arguments
from trigner.training.weighting import Collator


@dataclass(frozen=True)
class PreparedTraining:
    """A training before its first update: what it is of, and what scores and saves it."""

    settings: Settings
    system: System
    data: TrainingData
    dev: Sequence[Document]
    provenance: Provenance
    out: Path
    device: torch.device
    also_keep: tuple[SelectBy, ...]
    processes: Processes

    @property
    def optimisation(self) -> OptimisationSettings:
        return self.settings.optimisation

    def extractor(self) -> Extractor:
        """Predicts with the weights that are being trained."""
        spec = system_spec(self.settings.system)
        predictor = checked_predictor(spec, self.system.predictor(str(self.device)))
        return Extractor(predictor, spec.name)

    def notices(self) -> Iterator[str]:
        """What has no effect on these data, and what would be faster on this device."""
        yield from self.data.notices(self.settings, self.system.labels)
        if self.optimisation.precision == "bfloat16" and (told := bfloat16_notice(self.device)):
            yield f"{told}; training is faster with optimisation.precision=float32"

    def scores_of_dev(self) -> Callable[[], Scores]:
        """Dev scores with the weights of the time, in the precision of the training.

        Dev documents are segmented and encoded once.
        """
        mixed = self.optimisation.precision == "bfloat16"
        extract_dev = self.extractor().repeatedly(self.dev)

        def scores() -> Scores:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
                return score(self.dev, extract_dev())

        return scores

    def keep_best(self) -> KeepBest:
        """What saves the best epoch's model, and ends the training."""
        return KeepBest(
            select_by=self.optimisation.select_by,
            patience=self.optimisation.patience,
            save=self.save_to(self.out),
        )

    def save_to(self, folder: Path) -> Callable[[int, Mapping[str, float]], None]:
        """What saves the system as the model of an epoch with these metrics."""

        def save(epoch: int, metrics: Mapping[str, float]) -> None:
            if not self.processes.is_main:
                return
            scores = {name: metrics[f"eval_{name}"] for name in FIGURES}
            dev = self.provenance.dev.model_copy(update={"epoch": epoch, "scores": scores})
            spec = system_spec(self.settings.system)
            saved = self.system.saved_state()
            description = Description(
                system=spec.name,
                package=spec.package,
                labels=self.system.labels,
                model=self.settings.model.model_dump(mode="json"),
                state=dict(saved.state),
                files={},
                provenance=self.provenance.model_copy(update={"dev": dev}),
            )
            save_model(folder, description, saved.files)

        return save

    def trainer(
        self, progress: ShowProgress, report_to: Sequence[str], checkpoint: Path | None
    ) -> SystemTrainer:
        """What trains it, from its last checkpoint on if there is one."""
        settings, optimisation = self.settings, self.optimisation
        epochs = optimisation.epochs_of(sum(self.data.rates))
        batches = EpochBatches(
            self.data.lengths, optimisation, settings.seed, epochs, self.data.rates
        )
        also_keep = [
            KeepBest(select_by=name, patience=None, save=self.save_to(self.out / name))
            for name in self.also_keep
        ]
        return SystemTrainer(
            self.system,
            training_arguments(
                self.out,
                optimisation,
                seed=settings.seed,
                epochs=epochs,
                updates=len(batches) * epochs,
                device=self.device,
                report_to=report_to,
            ),
            data=self.data,
            batches=batches,
            collator=Collator(
                self.system, self.data.examples, batches, optimisation, self.processes
            ),
            settings=optimisation,
            score_dev=self.scores_of_dev(),
            callbacks=[
                ScoreEvery(optimisation.dev_every),
                *also_keep,
                self.keep_best(),
                progress,
            ],
            logs=self.out / LOGS,
            processes=self.processes,
        )
