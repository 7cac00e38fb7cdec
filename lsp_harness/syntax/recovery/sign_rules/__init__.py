"""Rules that reject signs which parse at their place but have no meaning there."""
