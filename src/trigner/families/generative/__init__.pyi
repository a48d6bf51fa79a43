from .settings import GenerativeSettings as GenerativeSettings
from .spelling import Speller as Speller
from .spelling import Spelling as Spelling
from .writing import Writing as Writing
