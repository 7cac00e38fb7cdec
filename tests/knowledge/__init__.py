"""Tests of what installed packages say."""
