"""What TriG-NER costs here, compared to its plain formulation and its bare encoder."""
