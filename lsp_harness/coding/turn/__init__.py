"""One turn on code: its input, states, prompt and driver."""
