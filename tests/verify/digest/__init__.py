"""Tests of the digests of tool outputs."""
