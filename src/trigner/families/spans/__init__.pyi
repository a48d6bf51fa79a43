from .fragments import FragmentFormat as FragmentFormat
from .fragments import Fragments as Fragments
from .fragments import SpanScores as SpanScores
from .scorers import SpanScorer as SpanScorer
from .settings import SpanSettings as SpanSettings
