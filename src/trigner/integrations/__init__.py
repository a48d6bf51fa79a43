"""Adapters to other libraries: the Hugging Face Hub; in modules of their own, as each needs its
library, `spacy`, `pandas`, `datasets` and `spark`.
"""
