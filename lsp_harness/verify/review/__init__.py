"""The review of a change by the model: one cheap question that it answers with yes or no."""
