"""Evaluations: what is said to be good is measured here, with a real model where that matters."""
