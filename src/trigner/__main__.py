"""`python -m trigner`."""

from trigner.cli import main

main()
