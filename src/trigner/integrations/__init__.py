"""Adapters to other libraries, each in a module of its own, as it needs its library: `spacy`,
`pandas`, `datasets` and `spark`.
"""
