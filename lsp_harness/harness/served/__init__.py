"""One folder for other programs: its code, verdicts about its texts, and sessions in it."""
