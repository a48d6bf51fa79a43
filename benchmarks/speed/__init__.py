"""What TriG-NER costs here, in its straightforward formulation, and beside its bare encoder."""
