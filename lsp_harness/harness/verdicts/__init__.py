"""Verdicts about edits that the user accepted or saved: when the checks run, and how editors show what they found."""
