"""The evaluation: suites, arms, checks and results."""
