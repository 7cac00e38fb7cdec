"""Languages whose programs are compiled before they run."""
