from .format import Combinations as Combinations
from .format import SegmentFormat as SegmentFormat
from .settings import SegmentSettings as SegmentSettings
