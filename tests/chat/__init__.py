"""Tests of conversations with tools."""
