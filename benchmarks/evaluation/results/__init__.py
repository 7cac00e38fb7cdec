"""Results of evaluations: their file, figures, page and the table of weaknesses."""
