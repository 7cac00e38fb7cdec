"""Tests of the type gate."""
