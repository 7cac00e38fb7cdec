"""Tests of model files: download, paths and headers."""
