"""Sessions in the editor and for other programs: their events, questions, and the socket."""
