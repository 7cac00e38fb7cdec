"""Tests of foreign agents of one client."""
