"""Tables of any size -> the same rows with entities: the batch function, and jobs around it."""

from trigner.bulk.annotator import Annotator, annotator
from trigner.bulk.job import Job
from trigner.bulk.output import Output, begun
from trigner.bulk.shapes import Columns, chosen_columns, look_at
from trigner.bulk.sources import InputFiles, find_sources
from trigner.bulk.tables import ENTITIES, annotate_batch, annotated_schema
from trigner.bulk.texts import AnnotatedText, annotate_texts
from trigner.bulk.workers import Actors, InProcess, Workers, ray_session

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
    "look_at",
    "ray_session",
]
