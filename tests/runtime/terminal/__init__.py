"""Programs in pseudo-terminals: real ones, with both emulators."""
