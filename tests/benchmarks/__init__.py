"""Tests of the measurements, without a model."""
