"""The commands of the laboratory: `study` and `prompt`."""
