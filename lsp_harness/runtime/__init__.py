"""Foreign coding agents in terminals and over their protocols: their processes, states, questions and answers."""
