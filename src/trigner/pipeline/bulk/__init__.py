"""Tables of any size -> the same rows with entities: the batch function, and jobs around it."""

from trigner.pipeline.bulk.annotator import Annotator, annotator
from trigner.pipeline.bulk.job import Job
from trigner.pipeline.bulk.json_values import holds_bytes
from trigner.pipeline.bulk.output import Output, begun
from trigner.pipeline.bulk.shapes import Columns, chosen_columns, look_at
from trigner.pipeline.bulk.sources import InputFiles, find_sources
from trigner.pipeline.bulk.tables import ENTITIES, annotate_batch, annotated_schema, refuse_added
from trigner.pipeline.bulk.texts import AnnotatedText, annotate_texts
from trigner.pipeline.bulk.workers import Actors, InProcess, Workers, ray_session

__all__ = [
    "ENTITIES",
    "Actors",
    "AnnotatedText",
    "Annotator",
    "Columns",
    "InProcess",
    "InputFiles",
    "Job",
    "Output",
    "Workers",
    "annotate_batch",
    "annotate_texts",
    "annotated_schema",
    "annotator",
    "begun",
    "chosen_columns",
    "find_sources",
    "holds_bytes",
    "look_at",
    "ray_session",
    "refuse_added",
]
