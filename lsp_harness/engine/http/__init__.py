"""The engine's HTTP door: one module for each dialect it speaks."""
